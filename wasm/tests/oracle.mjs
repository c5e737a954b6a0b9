// The oracle: attention and encoders in plain float64 loops, from the equations of "Attention Is All You Need" (arXiv
// 1706.03762) and the rules of the masks. The oracle does not use the binding or the kernels. Every weight is (out,
// in), as in PyTorch. A matrix is an array of rows.

// The unit roundoff of float32: half of its epsilon.
const unit = 2 ** -24;

/**
 * Returns the allowed difference between float32 and float64 results. The errors of n independent and unbiased
 * roundings of numbers of the magnitude s add up to about unit * s * sqrt(n) (Higham and Mary, SIAM J. Sci. Comput. 41,
 * 2019), if no sum enlarges relative errors, as in these tests. A result depends on at most `depth` successive sums of
 * at most `longest` terms, so n is at most `longest * depth`. Most sums are shorter. The bound is twice the error for
 * the largest n. The largest measured error is a third of the bound. A wrong epsilon, tanh in place of erf, or one key
 * too many exceeds the bound by a factor of 5 to 10,000.
 */
export const bound = ({ longest, depth, size }) => 2 * unit * Math.sqrt(longest * depth) * size;

/** Computes a linear map. `weight` is an array, or an int8 matrix {integers, scale, bits}. */
export const linear = (weight, bias, x) => (weight.integers ? linearInt8(weight, bias, x) : linearFloat(weight, bias, x));

const linearFloat = (weight, bias, x) =>
  x.map((row) =>
    Array.from({ length: weight.length / row.length }, (_, o) => {
      let sum = bias ? bias[o] : 0;
      for (let i = 0; i < row.length; ++i) sum += weight[o * row.length + i] * row[i];
      return sum;
    }),
  );

/**
 * `quantise` rounds quotients value / unit to integers. `nearest` is the smallest distance of a quotient from the
 * midpoint between two integers. A test sets `nearest` to Infinity before it computes quotients. The quotients of a
 * kernel differ slightly, because it computes in float32. If the differences are smaller than `nearest`, the kernel
 * rounds all quotients to the same integers as the oracle.
 */
export const quotients = { nearest: Infinity };

const nearestInteger = (quotient) => {
  const integer = Math.round(quotient);
  quotients.nearest = Math.min(quotients.nearest, 0.5 - Math.abs(quotient - integer));
  return integer;
};

/**
 * Quantises the numbers of one token to `bits` bits. Returns {integers, unit}: integers[i] * unit is about row[i]. The
 * integers can be negative. A kernel stores each integer plus the zero point, and this sum is never negative.
 */
const quantise = (row, bits) => {
  const levels = 2 ** bits - 1;
  const [low, high] = [Math.min(0, ...row), Math.max(0, ...row)];
  const unit = (high - low) / levels;
  if (unit === 0) return { integers: row.map(() => 0), unit };
  const zero = nearestInteger(-low / unit);
  return { integers: row.map((value) => Math.min(nearestInteger(value / unit), levels - zero)), unit };
};

/** Computes a product with int8 weights. Each row of weights and each token has a scale. */
const linearInt8 = ({ integers, scale, bits }, bias, x) =>
  x.map((row) => {
    const token = quantise(row, bits);
    const sums = linearFloat(integers, undefined, [token.integers])[0];
    return sums.map((sum, o) => token.unit * scale[o] * sum + (bias ? bias[o] : 0));
  });

/**
 * Returns the attention weights of head h: the softmax over the keys that a query may see, or 0 for all keys if a query
 * sees no key. maySee(i, j, h) returns true, false, or a number that is added to the score.
 */
const look = (q, k, h, maySee) =>
  q.map((query, i) => {
    const scores = k.map((key, j) => {
      const seen = maySee(i, j, h);
      if (seen === false) return -Infinity;
      let sum = 0;
      for (let c = 0; c < key.length; ++c) sum += query[c] * key[c];
      return sum / Math.sqrt(key.length) + Number(seen === true ? 0 : seen);
    });
    const most = Math.max(...scores);
    const powers = scores.map((score) => (score === -Infinity ? 0 : Math.exp(score - most)));
    const total = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => (total ? power / total : 0));
  });

const columns = (x, first, count) => x.map((row) => row.slice(first, first + count));

/**
 * Computes attention with queries from x, and keys and values from `context`. `weights` is {q, k, v, out}, each
 * [weight, bias]. turn(row, position) returns the query or key of a head with a rotary embedding. Returns y and the
 * attention weights of every head.
 */
export const attention = (x, context, weights, heads, maySee, turn = (row) => row) => {
  const [q, k, v] = [linear(...weights.q, x), linear(...weights.k, context), linear(...weights.v, context)];
  const width = q.length ? q[0].length / heads : 0;
  const maps = [];
  const concat = x.map(() => []);
  for (let h = 0; h < heads; ++h) {
    const map = look(columns(q, h * width, width).map(turn), columns(k, h * width, width).map(turn), h, maySee);
    maps.push(map);
    map.forEach((row, i) => {
      for (let c = h * width; c < (h + 1) * width; ++c) concat[i].push(row.reduce((sum, w, j) => sum + w * v[j][c], 0));
    });
  }
  return { y: linear(...weights.out, concat), maps };
};

export const layerNorm = ([weight, bias], epsilon, x) =>
  x.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const variance = row.reduce((sum, a) => sum + (a - mean) ** 2, 0) / row.length;
    return row.map((a, i) => ((a - mean) / Math.sqrt(variance + epsilon)) * weight[i] + bias[i]);
  });

/** Returns the share of the frequency f that `factor` divides, for a pair of YaRN. */
const yarnShare = (pair, width, { base, originalPositions, betaFast = 32, betaSlow = 1, truncate = true }) => {
  const pairThatTurns = (turns) =>
    (width * Math.log(originalPositions / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  const [low, high] = [pairThatTurns(betaFast), pairThatTurns(betaSlow)];
  const first = Math.max(truncate ? Math.floor(low) : low, 0);
  const last = Math.min(truncate ? Math.ceil(high) : high, width - 1);
  return Math.min(Math.max((pair - first) / (last - first || 0.001), 0), 1);
};

/** Returns the same share of Llama 3. */
const llama3Share = (f, { originalPositions, lowFrequencyFactor = 1, highFrequencyFactor = 4 }) => {
  const waves = (originalPositions * f) / (2 * Math.PI);
  if (waves < lowFrequencyFactor) return 1;
  if (waves > highFrequencyFactor) return 0;
  return 1 - (waves - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
};

/** Returns the angle between neighbouring positions, as transformers computes it. `positions` is the table's length. */
const rotaryFrequency = (pair, width, positions, given) => {
  const { kind, base, factor = 1, scaling = 1, originalPositions, proportion, factors } = given;
  const f = base ** ((-2 * pair) / width);
  const mixed = (share) => (share * f) / factor + (1 - share) * f;
  const grownBase = () =>
    base * ((factor * positions) / originalPositions - (factor - 1)) ** (width / (width - 2));
  const byKind = {
    none: () => f,
    linear: () => f / factor,
    dynamic: () => (positions > originalPositions ? grownBase() ** ((-2 * pair) / width) : f),
    llama3: () => mixed(llama3Share(f, given)),
    yarn: () => mixed(yarnShare(pair, width, given)),
    longrope: () => f / factors[pair],
    proportional: () => (pair < Math.floor((proportion * width) / 2) ? f / factor : 0),
  };
  return kind === undefined ? f / scaling : byKind[kind]();
};

/** Returns the factor of cosines and sines. */
const rotaryMagnitude = ({ kind, factor, originalPositions, attentionFactor }) => {
  if (kind !== "yarn" && kind !== "longrope") return 1;
  if (attentionFactor !== undefined) return attentionFactor;
  if (factor <= 1) return 1;
  return kind === "yarn" ? 0.1 * Math.log(factor) + 1 : Math.sqrt(1 + Math.log(factor) / Math.log(originalPositions));
};

/**
 * Returns the function `turn` of `attention` for the option `rotary` of a run. The pairs are (c, c + width / 2), and
 * the whole head is rotated.
 */
export const rotation = (options, positions) => {
  const given = { base: 1e4, ...options };
  const magnitude = rotaryMagnitude(given);
  return (row, position) => {
    const half = row.length / 2;
    return row.map((value, c) => {
      const frequency = rotaryFrequency(c % half, row.length, positions, given);
      const angle = (given.negated ? -1 : 1) * (position + (given.offset ?? 0)) * frequency;
      const other = c < half ? -row[c + half] : row[c - half];
      return magnitude * (value * Math.cos(angle) + other * Math.sin(angle));
    });
  };
};

/** Returns the bucket of the distance from a query to a key, as transformers computes it for T5. */
export const relativeBucket = (distance, buckets, { causal = false, maxDistance = 128 } = {}) => {
  const count = causal ? buckets : buckets / 2;
  const exact = Math.floor(count / 2);
  const first = !causal && distance > 0 ? count : 0;
  const far = causal ? Math.max(-distance, 0) : Math.abs(distance);
  if (far < exact) return first + far;
  const share = Math.log(far / exact) / Math.log(maxDistance / exact);
  return first + Math.min(exact + Math.floor(share * (count - exact)), count - 1);
};

/** Computes the error function, by its series or by a continued fraction (Abramowitz and Stegun 7.1.6 and 7.1.14). */
export const erf = (x) => {
  const a = Math.abs(x);
  if (a < 3) {
    let [term, sum] = [a, a];
    for (let n = 1; Math.abs(term) > 1e-17 * sum; ++n) {
      term *= (2 * a * a) / (2 * n + 1);
      sum += term;
    }
    return (Math.sign(x) * 2 * sum * Math.exp(-a * a)) / Math.sqrt(Math.PI);
  }
  let fraction = a;
  for (let n = 60; n > 0; --n) fraction = a + n / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / fraction);
};

const activations = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

const sum = (a, b) => a.map((row, i) => row.map((value, j) => value + b[i][j]));

/**
 * Computes an encoder layer. The first `queries` tokens of x are queries, and the first `keys` tokens are keys. With
 * norm "pre", norm1 may be without a weight: then the attention has no norm.
 */
export const encoderLayer = (x, weights, { heads, norm, activation, epsilon, turn }, queries, keys, maySee) => {
  const pre = norm === "pre";
  const input = pre && weights.norm1[0] ? layerNorm(weights.norm1, epsilon, x) : x;
  const { y: attended, maps } = attention(input.slice(0, queries), input.slice(0, keys), weights, heads, maySee, turn);
  let y = sum(x.slice(0, queries), attended);
  if (!pre) y = layerNorm(weights.norm1, epsilon, y);
  const hidden = linear(...weights.linear1, pre ? layerNorm(weights.norm2, epsilon, y) : y);
  y = sum(
    y,
    linear(
      ...weights.linear2,
      hidden.map((row) => row.map(activations[activation])),
    ),
  );
  if (!pre) y = layerNorm(weights.norm2, epsilon, y);
  return { y, maps };
};

/**
 * Computes a decoder layer: self-attention, attention to `memory` (`weights.cross`), and the feed-forward network. The
 * first `keys` tokens of x are the keys of self-attention. Returns y and the attention weights of both attentions.
 */
export const decoderLayer = (x, memory, weights, { heads, norm, activation, epsilon }, queries, keys, { maySee, maySeeMemory }) => {
  const pre = norm === "pre";
  const before = (name, rows) => (pre ? layerNorm(weights[name], epsilon, rows) : rows);
  const after = (name, rows) => (pre ? rows : layerNorm(weights[name], epsilon, rows));
  const input = before("norm1", x);
  const self = attention(input.slice(0, queries), input.slice(0, keys), weights, heads, maySee);
  let y = after("norm1", sum(x.slice(0, queries), self.y));
  const cross = attention(before("norm2", y), memory, weights.cross, heads, maySeeMemory);
  y = after("norm2", sum(y, cross.y));
  const hidden = linear(...weights.linear1, before("norm3", y)).map((row) => row.map(activations[activation]));
  return { y: after("norm3", sum(y, linear(...weights.linear2, hidden))), maps: self.maps, memoryMaps: cross.maps };
};

/** Returns softmax(q k^T / sqrt(width)) v for each head. q, k and v are lists of heads, and each head is a list of rows. */
export const givenAttention = (q, k, v, maySee) =>
  q.map((queries, h) => {
    const of = Math.floor((h * k.length) / q.length); // several heads of queries share a head of keys and values
    const map = look(queries, k[of], h, maySee);
    const width = v[of][0]?.length ?? 0;
    return map.map((row) => Array.from({ length: width }, (_, c) => row.reduce((total, weight, j) => total + weight * v[of][j][c], 0)));
  });
