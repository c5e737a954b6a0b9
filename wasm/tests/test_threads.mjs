// Tests kernels with the option `threads`, whose calls several workers compute.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import "../engine/relaxed_simd.mjs";
import { LadonError, load } from "../dist/index.js";
import { loadKernel } from "../dist/minilm.js";
import { randomOf, randoms, weightsOf } from "./kernels.mjs";
import { trappingTeamModule, withSection } from "./module_file.mjs";

const own = (name) => new URL(`./kernels/modules/${name}`, import.meta.url);
const coded = (code, message) => (error) => {
  assert.ok(error instanceof LadonError, `${error}`);
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return true;
};
const bytesOf = (floats) => Buffer.from(floats.slice().buffer);

/** Asserts that a team computes the bits of one thread: the results of all `runs`, and the attention weights. */
async function agrees(one, team, runs, weights = weightsOf(one.description, randomOf(3))) {
  one.weights.set(weights);
  team.weights.set(weights);
  for (const [x, options] of runs) {
    const expected = bytesOf(one.run(x, options));
    assert.deepEqual(bytesOf(await team.run(x, options)), expected);
    const { layers = 1 } = one.description;
    for (let layer = 0; options.attention && layer < layers; ++layer) {
      assert.deepEqual(bytesOf(team.attention(layer)), bytesOf(one.attention(layer)), `layer ${layer}`);
    }
  }
}

for (const precision of ["float32", "int8"]) {
  test(`MiniLM ${precision}: teams of 2 and 5 workers compute the bits of one thread`, async () => {
    const kernels = [];
    for (const variant of ["relaxed", "simd"]) {
      // Some engines lack relaxed SIMD, or compute wrong relaxed dot products.
      const unsupported = (error) => assert.ok(coded("unsupported", /variant/)(error));
      kernels.push(await loadKernel({ precision, variant }).catch(unsupported));
    }
    assert.ok(kernels[1], "simd");
    const weights = weightsOf(kernels[1].description, randomOf(3));
    const x = randoms(randomOf(5), 40 * 384);
    for (const kernel of kernels.filter(Boolean)) {
      for (const threads of [2, 5]) {
        const ofTeam = await loadKernel({ precision, variant: kernel.variant, threads });
        assert.deepEqual([ofTeam.threads, ofTeam.singleThreadReason], [threads, undefined]);
        const [one, team] = [kernel.create(), ofTeam.create()];
        const runs = [
          [x, { tokens: 40 }],
          [x, { tokens: 40, attention: true }], // makes the memory grow
          [x.subarray(0, 384), { tokens: 1 }],
          [[], { tokens: 0 }],
        ];
        await agrees(one, team, runs, weights);
        team.free();
      }
    }
  });
}

test("attention with masks, a context, a cache, given queries, and a decoder", async () => {
  const random = randomOf(9);
  const pair = async (name, create) => [
    (await load(own(name))).create(create),
    (await load(own(name), { threads: 3 })).create(create),
  ];
  const padding = Array.from({ length: 37 }, (_, i) => i % 5);
  await agrees(...(await pair("team_attention", { mask: ["causal", "padding"] })), [
    [randoms(random, 37 * 48), { padding, attention: true }],
    [randoms(random, 11 * 48), { tokens: 11 }],
  ]);
  const context = randoms(random, 33 * 24);
  await agrees(...(await pair("team_context")), [[randoms(random, 20 * 48), { context }]]);
  const [k, v] = [randoms(random, 33 * 48), randoms(random, 33 * 48)];
  await agrees(...(await pair("team_given")), [
    [randoms(random, 20 * 48), { k, v }],
    [randoms(random, 4 * 7 * 12), { queries: 7, k, v }],
  ]);
  const memory = randoms(random, 13 * 16);
  await agrees(...(await pair("team_decoder")), [
    [randoms(random, 5 * 16), { tokens: 5, memory }],
    [randoms(random, 16), { tokens: 1 }], // attends to the same memory
  ]);
  const [one, team] = await pair("team_cache");
  await agrees(one, team, [
    [randoms(random, 20 * 48), { tokens: 20 }],
    [randoms(random, 48), { tokens: 1 }],
  ]);
  assert.deepEqual([team.cached, one.cached], [21, 21]);
  team.clear();
  assert.equal(team.cached, 0);
});

test("one worker computes a call of one panel, unless the kernel has a cache", async (t) => {
  const shares = [];
  const { postMessage } = Worker.prototype;
  t.mock.method(Worker.prototype, "postMessage", function (message) {
    if (message.args) shares.push(message.shares);
    return postMessage.call(this, message);
  });
  const sharesOf = async (team, options) => {
    team.weights.set(weightsOf(team.description, randomOf(2)));
    await team.run(randoms(randomOf(1), (options.tokens ?? options.queries) * 48), options);
    return shares.splice(0);
  };
  const team = (await load(own("team_attention"), { threads: 3 })).create();
  assert.deepEqual(await sharesOf(team, { tokens: 8 }), [1]);
  assert.deepEqual(await sharesOf(team, { tokens: 9 }), [3, 3, 3]);
  const withCache = (await load(own("team_cache"), { threads: 3 })).create();
  assert.deepEqual(await sharesOf(withCache, { tokens: 1 }), [3, 3, 3]);
  const withContext = (await load(own("team_context"), { threads: 3 })).create();
  const context = randoms(randomOf(3), 33 * 24);
  assert.deepEqual(await sharesOf(withContext, { queries: 8, keys: 33, context }), [3, 3, 3]);
  for (const one of [team, withCache, withContext]) one.free();
});

test("warmUp runs the module of the team", async () => {
  const kernel = await load(own("team_attention"), { threads: 2 });
  const { calls } = await kernel.warmUp({ tokens: 2, most: 50 });
  assert.ok(calls > 0);
});

test("wrong options and sources", async () => {
  for (const threads of [0, 65, 1.5, "2", null]) {
    await assert.rejects(load(own("team_attention"), { threads }), coded("length", /threads: expected an integer from 1 to 64/));
  }
  await assert.rejects(load("attention_64_4", { threads: 2 }), coded("unsupported", /THREADS of ladon_add_kernel.*threads[.]wasm/));
  const { module: plain } = await load(own("team_attention"));
  await assert.rejects(load(plain, { threads: 2 }), coded("unsupported", /threads of team_attention: expected a module for threads/));
  const { module } = await load(own("team_attention"), { threads: 2 });
  await assert.rejects(load(module), coded("option", /threads, for a module that shares memory/));
});

test("wrong calls leave the team usable", async () => {
  const kernel = await load(own("team_attention"), { threads: 2 });
  const team = kernel.create();
  const x = randoms(randomOf(1), 5 * 48);
  await assert.rejects(team.run(x, { tokens: 5 }), coded("weights", /no weights yet/));
  team.weights.set(weightsOf(team.description, randomOf(2)));
  await assert.rejects(team.run(x.subarray(1), { tokens: 5 }), coded("length", /length of x/));
  const first = team.run(x, { tokens: 5 });
  for (const act of [() => team.clear(), () => team.attention(), () => team.weights.set({})]) {
    assert.throws(act, coded("busy", /a run is in progress/));
  }
  await assert.rejects(team.run(x, { tokens: 5 }), coded("busy", /a run is in progress/));
  assert.equal((await first).length, 5 * 48);
  assert.equal((await team.run(x, { tokens: 5 })).length, 5 * 48);
  team.free();
});

test("free ends the workers, and a run in progress throws", async (t) => {
  const alive = setInterval(() => {}, 1000); // idle workers do not keep the test alive
  t.after(() => clearInterval(alive));
  const ended = [];
  const { terminate } = Worker.prototype;
  t.mock.method(Worker.prototype, "terminate", function () {
    ended.push(once(this, "exit"));
    return terminate.call(this);
  });
  const team = (await load(own("team_attention"), { threads: 2 })).create();
  team.weights.set(weightsOf(team.description, randomOf(2)));
  await team.run(randoms(randomOf(1), 48), { tokens: 1 });
  const running = team.run(randoms(randomOf(1), 37 * 48));
  team.free();
  await assert.rejects(running, coded("closed", /freed/));
  await assert.rejects(team.run([], { tokens: 0 }), coded("closed", /freed/));
  assert.equal(ended.length, 2);
  await Promise.all(ended);
  const early = (await load(own("team_attention"), { threads: 2 })).create(); // before its workers have started
  early.free();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await Promise.all(ended);
});

test("a worker that traps ends the team", async () => {
  const { description } = await load(own("team_attention"), { threads: 2 });
  const module = withSection(JSON.stringify(description), trappingTeamModule);
  const team = (await load(module, { threads: 2 })).create();
  team.weights.set(weightsOf(description, randomOf(2)));
  for (let i = 0; i < 2; ++i) await assert.rejects(team.run([], { tokens: 0 }), coded("worker", /a worker failed: .*unreachable/));
});

test("without SharedArrayBuffer or isolation, one thread computes, and the reason is readable", async () => {
  const x = randoms(randomOf(1), 5 * 48);
  const weights = weightsOf((await load(own("team_attention"))).description, randomOf(2));
  const resultOf = async (threads) => {
    const kernel = await load(own("team_attention"), { threads });
    const instance = kernel.create();
    instance.weights.set(weights);
    const y = bytesOf(await instance.run(x, { tokens: 5 }));
    await assert.rejects(instance.run(x, { tokens: 4 }), coded("length", /length of x/));
    instance.free();
    return { y, threads: kernel.threads, reason: kernel.singleThreadReason };
  };
  const { y, reason } = await resultOf(2);
  assert.equal(reason, undefined);
  const { module } = await load(own("team_attention"), { threads: 2 });
  const without = async (name, value, act) => {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true });
    try {
      await act();
    } finally {
      if (before) Object.defineProperty(globalThis, name, before);
      else delete globalThis[name];
    }
  };
  for (const [name, value] of [["SharedArrayBuffer", undefined], ["crossOriginIsolated", false]]) {
    await without(name, value, async () => {
      const found = await resultOf(2);
      assert.equal(found.threads, 1);
      assert.match(found.reason, /no SharedArrayBuffer.*Cross-Origin-Opener-Policy: same-origin/);
      assert.deepEqual(found.y, y);
      await assert.rejects(load(module, { threads: 2 }), coded("unsupported", /no SharedArrayBuffer/));
    });
  }
  await without("SharedArrayBuffer", undefined, () =>
    without("crossOriginIsolated", true, async () => {
      const { reason } = await resultOf(2);
      assert.match(reason, /^no SharedArrayBuffer in this browser, although the page is cross-origin isolated$/);
    }),
  );
  const scalar = await load(own("team_attention"), { threads: 2, variant: "scalar" });
  assert.deepEqual([scalar.threads, scalar.variant], [1, "scalar"]);
  assert.match(scalar.singleThreadReason, /no SIMD/);
});

test("a program of Node ends after its last run, without free", () => {
  const program = `import { load } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url))};
    const team = (await load(new URL(${JSON.stringify(own("team_attention"))}), { threads: 2 })).create();
    team.run([]).catch(({ code }) => console.log(code));`;
  const options = { encoding: "utf8", timeout: 30_000 };
  assert.equal(execFileSync(process.execPath, ["--input-type=module", "-e", program], options), "weights\n");
});
