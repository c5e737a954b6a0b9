// Tests Microphone with fakes of a browser's functions, some of which never answer.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Microphone } from "../dist/keywords.js";
import { refuses } from "./refuses.mjs";

const never = () => new Promise(() => undefined);
const samples = () => undefined;
let track, stream, closed, nodes;

class FakeNode {
  port = { postMessage: samples, onmessage: null };
  disconnect() {}
}

/** Replaces the functions of the browser. Each member of `changes` replaces a function of the fake AudioContext. */
function install({ getUserMedia = async () => stream, ...changes } = {}) {
  class FakeContext {
    audioWorklet = { addModule: changes.addModule ?? (async () => undefined) };
    createMediaStreamSource = changes.createMediaStreamSource ?? (() => ({ connect: (node) => nodes.push(node) }));
    resume = changes.resume ?? (async () => undefined);
    close = changes.close ?? (async () => void (closed += 1));
  }
  const navigator = { mediaDevices: { getUserMedia } };
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  Object.assign(globalThis, { AudioWorkletNode: FakeNode, AudioContext: changes.AudioContext ?? FakeContext });
}

const ownNavigator = Object.getOwnPropertyDescriptor(globalThis, "navigator");
beforeEach(() => {
  track = { isStopped: false, stop: () => (track.isStopped = true), addEventListener: samples };
  stream = { getTracks: () => [track], getAudioTracks: () => [track] };
  [closed, nodes] = [0, []];
});
afterEach(() => {
  delete globalThis.AudioContext;
  delete globalThis.AudioWorkletNode;
  if (ownNavigator) Object.defineProperty(globalThis, "navigator", ownNavigator);
  else delete globalThis.navigator;
});

test("opens, and stops", async () => {
  install();
  const microphone = await Microphone.open({ samples });
  assert.equal(nodes.length, 1);
  await microphone.stop();
  assert.ok(track.isStopped && closed === 1);
});

const steps = [
  ["resume", "microphone", "starts no sound"],
  ["addModule", "network", "does not load"],
];
for (const [step, code, message] of steps) {
  test(`${step} never answers: an error after the limit, and the microphone is off`, async () => {
    install({ [step]: never });
    await refuses(() => Microphone.open({ samples, limit: 20 }), code, message);
    assert.ok(track.isStopped && closed === 1);
  });

  test(`${step} never answers: an abort ends the wait`, async () => {
    install({ [step]: never });
    const controller = new AbortController();
    setTimeout(() => controller.abort("enough"), 20);
    await refuses(() => Microphone.open({ samples, signal: controller.signal }), "aborted", "enough");
    assert.ok(track.isStopped && closed === 1);
  });
}

test("nobody answers the question for the permission: a limit, an abort, and a late permission is given back", async () => {
  let allow;
  install({ getUserMedia: () => new Promise((resolve) => (allow = resolve)) });
  await refuses(() => Microphone.open({ samples, permissionLimit: 20 }), "microphone", "nobody allowed");
  allow(stream);
  await new Promise((resolve) => setTimeout(resolve));
  assert.ok(track.isStopped);
  const controller = new AbortController();
  setTimeout(() => controller.abort("enough"), 20);
  await refuses(() => Microphone.open({ samples, signal: controller.signal }), "aborted", "enough");
});

test("a signal that aborted earlier, also while the browser asks", async () => {
  install();
  await refuses(() => Microphone.open({ samples, signal: AbortSignal.abort("no") }), "aborted", "no");
  await new Promise((resolve) => setTimeout(resolve));
  assert.ok(track.isStopped);
});

test("a context that never closes does not keep stop waiting", { timeout: 10_000 }, async () => {
  install({ close: never });
  await (await Microphone.open({ samples })).stop();
  assert.ok(track.isStopped);
});

test("errors of the browser are LadonErrors", async () => {
  const throws = () => {
    throw new TypeError("not here");
  };
  install({ AudioContext: class { constructor() { throws(); } } });
  await refuses(() => Microphone.open({ samples }), "microphone", "16000 Hz: TypeError: not here");
  install({ createMediaStreamSource: throws });
  await refuses(() => Microphone.open({ samples }), "microphone", "16000 Hz");
  install({ resume: async () => throws() });
  await refuses(() => Microphone.open({ samples }), "microphone", "starts no sound");
  install({ addModule: async () => throws() });
  await refuses(() => Microphone.open({ samples }), "network", "microphone-worklet");
  for (const limit of [-1, NaN, "long"]) {
    await refuses(() => Microphone.open({ samples, limit }), "option", "limit");
    await refuses(() => Microphone.open({ samples, permissionLimit: limit }), "option", "permissionLimit");
  }
});
