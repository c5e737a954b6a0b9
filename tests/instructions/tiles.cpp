// Instantiates attention and an encoder layer. The test tile_loops checks the loops in the object code of this file.
#include <ladon/ladon.hpp>

namespace {

template <class Block>
void run(const float* x, const void* weights, float* y, void* workspace, const void* options) {
  Block::run(x, *static_cast<const typename Block::Weights*>(weights), y,
             *static_cast<typename Block::Workspace*>(workspace),
             *static_cast<const typename Block::Options*>(options));
}

constexpr ladon::Shape wide{.queries = 256, .model = 1024, .heads = 8};
constexpr ladon::Shape usual{.queries = 128, .model = 384, .heads = 12};

constexpr ladon::Shape few_beyond_pack{.queries = 24, .model = 384, .heads = 12};

struct Capped : ladon::score::Scaled {
  static constexpr float softcap = 50;
};

}  // namespace

using Run = void (*)(const float*, const void*, float*, void*, const void*);
extern const Run runs[];
const Run runs[] = {
    run<ladon::MultiHeadAttention<wide>>,
    run<ladon::MultiHeadAttention<usual, ladon::mask::Causal, ladon::layout::InProj, Capped>>,
#if !defined(LADON_TEST_SET_USUAL)
    run<ladon::MultiHeadAttention<wide, ladon::mask::Causal>>,
    run<ladon::MultiHeadAttention<usual>>,
    run<ladon::MultiHeadAttention<usual, ladon::mask::Causal>>,
    run<ladon::MultiHeadAttention<usual, ladon::mask::Unmasked, ladon::layout::InProj, Capped>>,
#endif
    run<ladon::EncoderLayer<ladon::Model{.feed_forward = 1536}.with(usual)>>,
    run<ladon::MultiHeadAttention<few_beyond_pack>>,
};
