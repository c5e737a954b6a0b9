// Tests a kernel that contains the weights of a checkpoint. The checkpoint has no biases of queries, keys and values,
// so ladon_add_kernel makes this kernel with the option "BIAS output".
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "c_keywords.h"
#include "small_keywords.hpp"
#include "stored.hpp"

namespace ladon_test {

TEST_CASE("BIAS output: the tensors of the checkpoint") {
  auto tensors = small_keywords();
  Random random(18);
  const auto x = random.normals(C_KEYWORDS_QUERIES * C_KEYWORDS_MODEL);
  const auto own = weights_of<c_keywords_weights>(tensors);
  const auto expected = run_with<C_KEYWORDS_WORKSPACE_BYTES>(c_keywords_run, own, x);
  const auto y = run_with<C_KEYWORDS_WORKSPACE_BYTES>(c_keywords_run, c_keywords_stored_weights, x);
  CHECK(y == expected);
  // Sets the bias of one output projection to 0, which must change the result.
  for (NamedTensor& tensor : tensors) {
    if (tensor.name == "layers.1.self_attn.out_proj.bias") std::ranges::fill(tensor.data, 0.0f);
  }
  CHECK(run_with<C_KEYWORDS_WORKSPACE_BYTES>(c_keywords_run, own, x) != y);
}

}  // namespace ladon_test
