// must print: ladon: a patch exceeds the image
#include <ladon/ladon.hpp>

using Part = ladon::PatchEmbedding<ladon::PatchModel{
    .rows = 8, .columns = 12, .patch_rows = 16, .patch_columns = 4, .model = 8}>;
Part::Weights weights;
