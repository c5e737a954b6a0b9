// Computes self-attention in plain loops of float64. Returns the expected y of NAME_run, or undefined if the kernel is
// not simple self-attention.
export function attention({description: d, tensors, numbers: x}) {
  const simple = d.kind === 'attention' && !d.context && d.cache === 0 && d.kvHeads === d.heads &&
    d.headWidth === d.valueWidth && ['in_proj', 'separate_qkv'].includes(d.layout) &&
    d.mask.every((mask) => mask === 'causal' || mask === 'padding') && !/SCALE|SOFTCAP|SINKS|ROTARY/.test(d.arguments);
  if (!simple) return undefined;
  const joined = (what) => tensors.filter(({name}) => name.endsWith(what) && !name.startsWith('out'))
    .flatMap(({values}) => [...values]);
  const project = (tokens, weight, bias, rows, columns) => tokens.map((token) =>
    Float64Array.from({length: rows}, (_, row) => {
      let sum = bias[row] ?? 0;
      for (let i = 0; i < columns; ++i) sum += weight[row * columns + i] * token[i];
      return sum;
    }));
  const tokens = Array.from({length: d.queries}, (_, t) => x.subarray(t * d.model, (t + 1) * d.model));
  const width = d.heads * d.headWidth;
  const projected = project(tokens, joined('_weight'), joined('_bias'), 3 * width, d.model);
  const mixed = projected.map((query, t) => {
    const row = new Float64Array(width);
    const last = d.mask.includes('causal') ? t + d.keys - d.queries : d.keys - 1;
    for (let h = 0; h < d.heads; ++h) {
      const at = h * d.headWidth;
      const scores = [];
      for (let k = 0; k <= last; ++k) {
        let sum = 0;
        for (let i = 0; i < d.headWidth; ++i) sum += query[at + i] * projected[k][width + at + i];
        scores.push(sum / Math.sqrt(d.headWidth));
      }
      const most = Math.max(...scores);
      const powers = scores.map((score) => Math.exp(score - most));
      const total = powers.reduce((a, b) => a + b, 0);
      for (let i = 0; i < d.headWidth; ++i) {
        row[at + i] = powers.reduce((sum, power, k) => sum + power * projected[k][2 * width + at + i], 0) / total;
      }
    }
    return row;
  });
  const out = (what) => tensors.find(({name}) => name === `out_proj_${what}`)?.values ?? [];
  return project(mixed, out('weight'), out('bias'), d.model, width).flatMap((row) => [...row]);
}
