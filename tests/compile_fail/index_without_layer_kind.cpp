// must print: ladon: Model::kind_of_layer has a number to which Model::kinds has no kind
#include <ladon/ladon.hpp>

constexpr ladon::Model model{.layers = 3,
                             .tokens = 5,
                             .model = 6,
                             .heads = 2,
                             .feed_forward = 7,
                             .kinds = {{.window = 2}, {}},
                             .kind_of_layer = {0, 2}};
static_assert(ladon::Encoder<model>::shape.model == 6);
