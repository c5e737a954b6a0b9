// SPDX-License-Identifier: Apache-2.0
// Tests the names in C++ of the tensors of a checkpoint.
#include <doctest/doctest.h>

#include "member_names.hpp"

namespace ladon::import {

TEST_SUITE_BEGIN("member_names");

TEST_CASE("a tensor is named by its last words") {
  MemberNames names({"layers"});
  CHECK(names.name_of("embeddings.word_embeddings.weight") == "word_embeddings");
  CHECK(names.name_of("embeddings.LayerNorm") == "layer_norm");
  CHECK(names.name_of("pooler.LayerNorm") == "pooler_layer_norm");
  CHECK(names.name_of("embeddings.LayerNorm") == "layer_norm");
  CHECK(names.name_of("conv_layers.0") == "conv_layers_0");
  CHECK(names.name_of("model.layers.weight") == "model_layers");
  CHECK(names.name_of("wte.weight") == "wte");
  CHECK(names.name_of("a.wte.weight") == "a_wte");
  CHECK(names.name_of("wte") == "wte_");
}

TEST_CASE("every text becomes an identifier") {
  CHECK(identifier("bge-small-en-v1.5") == "bge_small_en_v1_5");
  CHECK(identifier("BertBase") == "bert_base");
  CHECK(identifier("CLIPModel") == "clipmodel");
  CHECK(identifier("3d") == "model_3d");
  CHECK(identifier("namespace") == "namespace_");
  CHECK(identifier("\xc3\xa4") == "model");
  CHECK(identifier("") == "model");
}

TEST_CASE("the name of a type") { CHECK(type_name("word_embeddings") == "WordEmbeddings"); }

TEST_CASE("a literal has the bytes of the text") {
  CHECK(literal("a.b") == "\"a.b\"");
  CHECK(literal("a\"b\\c") == "\"a\\\"b\\\\c\"");
  CHECK(literal("a\n1") == "\"a\\0121\"");
}

TEST_SUITE_END();

}  // namespace ladon::import
