// must print: ladon: a patch exceeds the series
#include <ladon/ladon.hpp>

constexpr ladon::TimeSeriesModel model{.length = 4, .patch = 5};
float series[4], y[5];
void f() { ladon::time_series_patches<model>(series, y); }
