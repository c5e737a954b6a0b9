// Tests the tab "Words" in Chromium: a fake microphone, recordings, files, errors, keys, and a page without the model.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { answers, recordingFile, samplesOf, skipWithoutRecordings, tflite, weights } from "../keywords_files.mjs";
import { accessibilityProblems, folder, overflow, problemsOfBothSchemes, smallTargets, startPage } from "./chromium.mjs";

const fakeDevice = "--use-fake-device-for-media-stream";
const allowed = "--use-fake-ui-for-media-stream";
const microphoneOf = (name) => [fakeDevice, allowed, `--use-file-for-fake-audio-capture=${recordingFile(name)}`];

let site;
let files; // a folder for files of the tests
before(async () => {
  files = mkdtempSync(join(tmpdir(), "ladon-words-"));
  site = await startPage(folder, microphoneOf("yes"));
});
after(async () => {
  await site.stop();
  rmSync(files, { recursive: true });
});

/** Opens the tab on a server that also serves the model. */
const openWords = async (options = {}) => {
  const opened = await site.open({ hash: "#words", ...options });
  await opened.page.locator("#keyword-tools").waitFor({ timeout: 30_000 });
  return opened;
};
const answerIs = (page, text) =>
  page.locator("#keyword-answer").getByText(text, { exact: true }).waitFor({ timeout: 30_000 });
const factIs = (page, text) => page.locator("#keyword-facts").filter({ hasText: text }).waitFor({ timeout: 30_000 });
const wordsOf = async (page) =>
  (await page.locator("#keyword-words li").allInnerTexts()).map((text) => text.split(/\s/)[0]);
/** Returns true if a canvas has more than one colour. */
const isPainted = (page, id) =>
  page.evaluate((id) => {
    const canvas = document.getElementById(id);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size > 8;
  }, id);
/** Writes a WAV file of 16 bits. */
const wavOf = (name, channels, rate) => {
  const count = channels[0].length;
  const data = Buffer.alloc(44 + 2 * count * channels.length);
  data.write("RIFF", 0, "latin1");
  data.writeUInt32LE(data.length - 8, 4);
  data.write("WAVEfmt ", 8, "latin1");
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(1, 20);
  data.writeUInt16LE(channels.length, 22);
  data.writeUInt32LE(rate, 24);
  data.writeUInt32LE(2 * rate * channels.length, 28);
  data.writeUInt16LE(2 * channels.length, 32);
  data.writeUInt16LE(16, 34);
  data.write("data", 36, "latin1");
  data.writeUInt32LE(data.length - 44, 40);
  for (let i = 0; i < count; ++i) {
    channels.forEach((samples, c) =>
      data.writeInt16LE(Math.round(samples[i] * 32767), 44 + 2 * (i * channels.length + c)),
    );
  }
  const path = join(files, name);
  writeFileSync(path, data);
  return path;
};
/**
 * Returns the samples of the recordings, one recording after another. Each sample appears `times` times in a row, as in
 * a sound with `times` times the sample rate.
 */
const soundOf = (names, times = 1) => {
  const samples = names.flatMap((name) => Array.from(samplesOf(name)));
  return Float32Array.from({ length: samples.length * times }, (_, i) => samples[Math.floor(i / times)]);
};

describe("with the model beside the page", { skip: skipWithoutRecordings }, () => {
  test("a recording at first; the others by their buttons; pictures, table and figures", async () => {
    const { page, context, problems } = await openWords();
    await answerIs(page, "yes");
    assert.equal(await page.getByRole("radio", { name: "Int8" }).isChecked(), true);
    assert.ok(await isPainted(page, "keyword-attention"));
    assert.ok(await isPainted(page, "keyword-spectrogram"));
    await page
      .locator("#keyword-labels li")
      .filter({ hasText: /yes\s*(89|9\d)%/ })
      .waitFor();
    await page
      .locator("#keyword-explanation")
      .filter({ hasText: /Layer \d+ looks most sharply: \d+%/ })
      .waitFor();
    await page.getByText("Attention in numbers").click();
    assert.equal(await page.locator("#keyword-table tbody tr").count(), 12);
    await page.getByRole("button", { name: "“no”" }).click();
    await answerIs(page, "no");
    await page.getByRole("button", { name: "silence" }).click();
    await answerIs(page, "silence");
    await factIs(page, /A window of one second\s*[\d.]+ (ms|µs)/);
    await factIs(page, "607,308");
    assert.deepEqual(await accessibilityProblems(page), []);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test("the labels of LiteRT in both precisions, by the keys", async () => {
    const { page, context, problems } = await openWords();
    const { cases, labels } = JSON.parse(readFileSync(answers, "utf8"));
    const { logits } = cases.find(({ file }) => file === "yes_1000ms.wav");
    assert.equal(labels[logits.indexOf(Math.max(...logits))], "yes");
    await answerIs(page, "yes");
    await factIs(page, "matrices in int8");
    await page.getByRole("radio", { name: "Int8" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.locator("#keyword-facts").filter({ hasNotText: "int8" }).waitFor();
    await page.locator("#keyword-note").filter({ hasText: "90%" }).waitFor(); // 0.909, truncated
    await page.keyboard.press("ArrowLeft");
    await factIs(page, "matrices in int8");
    assert.deepEqual(problems, []);
    await context.close();
  });

  for (const width of [320, 1280]) {
    test(`at ${width} px, light and dark: nothing beyond the edge, accessible`, async () => {
      const { page, context, problems } = await openWords({ width, colorScheme: "light", reducedMotion: "reduce" });
      await answerIs(page, "yes");
      assert.ok((await overflow(page)) <= 0);
      assert.deepEqual(await smallTargets(page), []);
      assert.deepEqual(await problemsOfBothSchemes(page), []);
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  test("the microphone, by the keys: words, pictures, figures; it stops, and can start again", async () => {
    const { page, context, problems } = await openWords({ width: 320 });
    const listen = page.locator("#keyword-listen");
    await listen.focus();
    const start = async (words) => {
      await page.keyboard.press("Enter");
      await page.locator("#keyword-listen[aria-pressed=true]").waitFor({ timeout: 30_000 });
      // The fake microphone repeats the recording.
      await page.locator("#keyword-words li").nth(words - 1).waitFor({ timeout: 30_000 });
      assert.deepEqual([...new Set(await wordsOf(page))], ["yes"]);
    };
    const stop = async () => {
      await page.keyboard.press("Enter");
      await page.locator("#keyword-listen[aria-pressed=false]").waitFor();
      await answerIs(page, "stopped");
    };
    await start(3);
    await factIs(page, "new frames and model, every 100 ms");
    assert.equal(await page.locator("#keyword-seconds").innerText(), "1 s ago\nnow");
    assert.ok(await isPainted(page, "keyword-spectrogram"));
    assert.ok((await overflow(page)) <= 0);
    assert.deepEqual(await accessibilityProblems(page), []);
    await stop();
    const count = (await wordsOf(page)).length;
    await page.waitForTimeout(1500);
    assert.equal((await wordsOf(page)).length, count, "nothing is heard after the stop");
    await start(1);
    await stop();
    // The focus stays on the button that switched the microphone on. The Tab key then leads to the field for a sound
    // file.
    assert.equal(await page.evaluate(() => document.activeElement.id), "keyword-listen");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "keyword-sound");
    assert.deepEqual(problems, []);
    await context.close();
  });

  test("the microphone ends with the tab, and with a recording", async () => {
    const { page, context, problems } = await openWords();
    // Collects the tracks of all streams that the page opens.
    await page.evaluate(() => {
      const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
      globalThis.tracks = [];
      navigator.mediaDevices.getUserMedia = async (constraints) => {
        const stream = await open(constraints);
        globalThis.tracks.push(...stream.getTracks());
        return stream;
      };
    });
    const states = () => page.evaluate(() => globalThis.tracks.map(({ readyState }) => readyState));
    const listen = page.getByRole("button", { name: "Use the microphone" });
    const stop = page.getByRole("button", { name: "Stop the microphone" });
    await listen.click();
    await stop.waitFor({ timeout: 30_000 });
    assert.deepEqual(await states(), ["live"]);
    await page.getByRole("tab", { name: "Dates" }).click();
    await page.getByRole("tab", { name: "Words" }).click();
    await listen.waitFor();
    assert.deepEqual(await states(), ["ended"]);
    await listen.click();
    await stop.waitFor({ timeout: 30_000 });
    await page.getByRole("button", { name: "“no”" }).click();
    await answerIs(page, "no");
    await listen.waitFor();
    assert.deepEqual(await states(), ["ended", "ended"]);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test("little motion: the picture changes with words, and once a second", async () => {
    const changesOf = async (reducedMotion) => {
      const { page, context } = await openWords({ reducedMotion });
      await page.getByRole("button", { name: "Use the microphone" }).click();
      await page.locator("#keyword-words li").first().waitFor({ timeout: 30_000 });
      const changes = await page.evaluate(async () => {
        let count = 0;
        const list = document.getElementById("keyword-labels");
        new MutationObserver(() => ++count).observe(list, { subtree: true, attributes: true });
        await new Promise((done) => setTimeout(done, 3000));
        return count;
      });
      await context.close();
      return changes;
    };
    const [calm, usual] = await Promise.all(["reduce", "no-preference"].map(changesOf));
    assert.ok(calm > 0 && calm <= 8, `${calm} pictures in 3 seconds`);
    assert.ok(usual > 2 * calm, `${usual} pictures in 3 seconds, ${calm} with little motion`);
  });

  test("files: another rate, two channels, several words, by drop; and no sound at all", async () => {
    const { page, context, problems } = await openWords();
    const stereo = wavOf("stereo.wav", [soundOf(["no"], 3), soundOf(["no"], 3)], 48000);
    await page.setInputFiles("#keyword-sound", stereo);
    await answerIs(page, "no");
    const several = wavOf("several.wav", [soundOf(["silence", "yes", "silence", "no", "silence"])], 16000);
    await page.setInputFiles("#keyword-sound", several);
    await page.locator("#keyword-words li").nth(1).waitFor();
    assert.deepEqual(await wordsOf(page), ["yes", "no"]);
    await page
      .locator("#keyword-note")
      .filter({ hasText: /in the second from \d\.\d s/ })
      .waitFor();
    // Drops a sound file on the picture.
    const bytes = [...readFileSync(recordingFile("yes"))];
    await page.evaluate((bytes) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(bytes)], "dropped.wav"));
      const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
      document.getElementById("keyword-picture").dispatchEvent(event);
    }, bytes);
    await answerIs(page, "yes");
    const none = join(files, "none.wav");
    writeFileSync(none, "no sound");
    await page.setInputFiles("#keyword-sound", none);
    await page.getByRole("alert").filter({ hasText: "none.wav is not a sound that this browser can read" }).waitFor();
    await page.setInputFiles("#keyword-sound", wavOf("long.wav", [new Float32Array(16000 * 121)], 16000));
    await page.getByRole("alert").filter({ hasText: "long.wav has 121 seconds; this page takes up to 120" }).waitFor();
    await page.getByRole("button", { name: "“yes”" }).click();
    await page.getByRole("alert").waitFor({ state: "hidden" });
    assert.deepEqual(problems, []);
    await context.close();
  });

  test("nothing leaves the page, and the model is kept for a visit without a network", async () => {
    const { page, context } = await openWords();
    const asked = [];
    page.on("request", (request) => asked.push([request.method(), request.url()]));
    await page.getByRole("button", { name: "Use the microphone" }).click();
    await page.locator("#keyword-words li").first().waitFor({ timeout: 30_000 });
    await page.setInputFiles("#keyword-sound", wavOf("no.wav", [soundOf(["no"])], 16000));
    await answerIs(page, "no");
    // Every request must be for a file of the page, such as the worklet, and must have no query.
    for (const [method, url] of asked) {
      assert.ok(method === "GET" && url.startsWith(site.url), `${method} ${url}`);
      assert.ok(existsSync(join(folder, url.slice(site.url.length))), url);
    }
    await page.evaluate(async () => navigator.serviceWorker.ready);
    await context.setOffline(true);
    await page.goto(`${site.url}?again#words`);
    await page.locator("#keyword-tools").waitFor({ timeout: 30_000 });
    await answerIs(page, "yes");
    await page.getByRole("button", { name: "Forget the model" }).click();
    await page.locator("#keyword-fetch:focus").waitFor();
    assert.equal(await page.evaluate(() => caches.has("ladon-kwt1")), false);
    await context.close();
  });

  for (const [name, flags, message] of [
    ["permission denied", [fakeDevice], "the permission to use the microphone was denied"],
    ["no device", [allowed], "there is no microphone"],
  ]) {
    test(`the microphone, ${name}: told`, async () => {
      const other = await startPage(folder, flags);
      try {
        const { page, problems } = await other.open({ hash: "#words" });
        await page.getByRole("button", { name: "Use the microphone" }).click({ timeout: 30_000 });
        await page.getByRole("alert").filter({ hasText: message }).waitFor();
        assert.equal(await page.locator("#keyword-listen").getAttribute("aria-pressed"), "false");
        assert.deepEqual(await accessibilityProblems(page), []);
        // Without the microphone, the recordings of the tab still work.
        await page.getByRole("button", { name: "“no”" }).click();
        await answerIs(page, "no");
        await page.getByRole("alert").waitFor({ state: "hidden" });
        assert.deepEqual(problems, []);
      } finally {
        await other.stop();
      }
    });
  }
});

describe("without the model beside the page", () => {
  let other;
  before(async () => {
    const copy = join(files, "page");
    cpSync(folder, copy, { recursive: true });
    rmSync(join(copy, "keywords"), { recursive: true, force: true });
    other = await startPage(copy);
  });
  after(() => other.stop());

  const published = "https://raw.githubusercontent.com/**";
  /**
   * Opens the tab on a server without the model. The page cannot load the model from its own address and shows the
   * form.
   */
  const openForm = async () => {
    const opened = await other.open({ hash: "#words" });
    await opened.page.locator("#keyword-choice").waitFor();
    return opened;
  };
  const fetchButton = (page) => page.getByRole("button", { name: "Fetch the model" });
  const isKept = (page) => page.evaluate(() => caches.has("ladon-kwt1"));

  test("fetching by the user's click only; errors, another checksum, and cancel", async () => {
    const { page, context } = await openForm();
    const asked = [];
    let answer = (route) => route.abort();
    await context.route(published, (route) => {
      asked.push(route.request().url());
      return answer(route);
    });
    await page.waitForTimeout(500);
    assert.deepEqual(asked, []);
    assert.deepEqual(await accessibilityProblems(page), []);
    const form = page.locator("#keyword-choice");
    await fetchButton(page).click();
    await form.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor();
    answer = (route) => route.fulfill({ body: "another", headers: { "access-control-allow-origin": "*" } });
    await fetchButton(page).click();
    await form.getByRole("alert").filter({ hasText: "the SHA-256 must be b7dc15" }).waitFor();
    let release;
    answer = async (route) => {
      await new Promise((resolve) => (release = resolve));
      await route.abort().catch(() => undefined);
    };
    await fetchButton(page).click();
    await page.locator("#keyword-cancel:focus").click();
    await page.locator("#keyword-fetch:focus").waitFor();
    assert.equal(await form.getByRole("alert").isVisible(), false);
    release();
    assert.equal(asked.length, 3);
    assert.equal(await isKept(page), false);
    await context.close();
  });

  const skipWithoutTflite = skipWithoutRecordings || (existsSync(tflite) ? false : `no ${tflite}`);
  test("the published file is converted, and kept as safetensors", { skip: skipWithoutTflite }, async () => {
    const { page, context } = await openForm();
    const body = readFileSync(tflite);
    await context.route(published, (route) => route.fulfill({ body, headers: { "access-control-allow-origin": "*" } }));
    await fetchButton(page).click();
    await page.locator("#keyword-tools").waitFor({ timeout: 30_000 });
    // The page returns base64, because the debugger takes ten seconds for an array of two million numbers.
    const kept = await page.evaluate(async () => {
      const cache = await caches.open("ladon-kwt1");
      const [request] = await cache.keys();
      const reader = new FileReader();
      reader.readAsDataURL(await (await cache.match(request)).blob());
      await new Promise((resolve) => reader.addEventListener("load", resolve));
      return reader.result.split(",")[1];
    });
    const tensorsOf = (file) => {
      const begin = 8 + Number(file.readBigUInt64LE(0));
      const header = JSON.parse(file.toString("utf8", 8, begin));
      return Object.fromEntries(
        Object.entries(header).map(
          ([
            name,
            {
              dtype,
              shape,
              data_offsets: [first, end],
            },
          ]) => {
            return [name, { dtype, shape, bytes: file.subarray(begin + first, begin + end).toString("base64") }];
          },
        ),
      );
    };
    assert.deepEqual(tensorsOf(Buffer.from(kept, "base64")), tensorsOf(readFileSync(weights)));
    await page.setInputFiles("#keyword-sound", recordingFile("yes"));
    await answerIs(page, "yes");
    await page.reload();
    await page.locator("#keyword-tools").waitFor({ timeout: 30_000 });
    await context.close();
  });

  test("files from the disk: right ones and damaged ones", { skip: skipWithoutTflite }, async () => {
    const { page, context } = await openForm();
    const alert = page.locator("#keyword-choice").getByRole("alert");
    for (const [name, content, message] of [
      ["short.tflite", readFileSync(tflite).subarray(0, 1e6), "damaged"],
      ["other.safetensors", readFileSync(weights).subarray(0, 1e6), /bytes/],
      ["text.safetensors", "none", /./],
    ]) {
      const path = join(files, name);
      writeFileSync(path, content);
      await page.setInputFiles("#keyword-file", path);
      await alert.filter({ hasText: message }).waitFor();
      assert.equal(await page.locator("#keyword-tools").isVisible(), false);
      assert.equal(await isKept(page), false);
    }
    await page.setInputFiles("#keyword-file", weights);
    await page.locator("#keyword-tools").waitFor({ timeout: 30_000 });
    await page.setInputFiles("#keyword-sound", recordingFile("no"));
    await answerIs(page, "no");
    await context.close();
  });
});
