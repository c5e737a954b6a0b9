// must print: ladon: a patch exceeds the series
#include <ladon/ladon.hpp>

constexpr ladon::SeriesModel model{.length = 4, .patch = 5};
float series[4], y[5];
void f() { ladon::series_patches<model>(series, y); }
