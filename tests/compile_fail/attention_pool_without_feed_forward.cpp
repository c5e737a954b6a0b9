// must print: ladon: an attention pool needs the hidden width of its feed-forward network
#include <ladon/ladon.hpp>

using Pool = ladon::AttentionPool<ladon::Model{.tokens = 4, .model = 8, .heads = 2}>;
Pool::Weights weights;
