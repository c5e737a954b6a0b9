// Tests how a picture becomes the numbers of a model on the page of an imported model, and the settings that say so.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { buildSync } from "esbuild";
import { fileURLToPath } from "node:url";
import { pictureOf, pictureSettings } from "../tools/picture-settings.mjs";

const entryPoints = [fileURLToPath(new URL("../model/picture.ts", import.meta.url))];
const { outputFiles } = buildSync({ entryPoints, bundle: true, format: "esm", write: false });
const { numbersOfPicture, prepared } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

const mean = [0.5, 0.25, 0.125];
const std = [0.5, 0.25, 2];
const clip = { feature_extractor_type: "CLIPFeatureExtractor", size: 5, crop_size: 4, resample: 3, image_mean: mean, image_std: std };
const vit = { size: { height: 5, width: 4 }, image_mean: mean, image_std: std };

const picture = (height, width) => {
  const data = Uint8ClampedArray.from({ length: 4 * height * width }, (_, i) => {
    const [row, column, channel] = [Math.floor(i / 4 / width), Math.floor(i / 4) % width, i % 4];
    return channel === 3 ? 255 : (37 * row + 91 * column + 53 * channel + 7 * row * column) % 256;
  });
  return { data, width, height };
};
const channels = ({ data }) => [0, 1, 2].map((channel) => Array.from(data.filter((_, i) => i % 4 === channel)));

// The expected pixels are those of Image.resize of Pillow 11.3 and 13.0.
test("a larger picture is scaled and cropped as Pillow does", () => {
  const seen = prepared(picture(9, 13), pictureOf(clip, "", 48));
  assert.deepEqual(channels(seen), [
    [135, 110, 108, 136, 123, 144, 105, 148, 141, 145, 124, 143, 138, 149, 161, 94],
    [130, 164, 131, 86, 134, 129, 152, 120, 140, 132, 110, 125, 128, 137, 131, 125],
    [118, 119, 148, 118, 141, 116, 118, 169, 138, 119, 119, 118, 125, 124, 135, 139],
  ]);
  assert.ok(seen.data.every((value, i) => i % 4 < 3 || value === 255));
});

test("a smaller picture is scaled as Pillow does", () => {
  assert.deepEqual(channels(prepared(picture(2, 3), pictureOf(vit, "vit", 60))), [
    [0, 57, 125, 182, 4, 61, 130, 187, 19, 78, 149, 208, 33, 94, 167, 228, 37, 98, 172, 233],
    [53, 110, 178, 235, 57, 114, 173, 215, 72, 131, 154, 133, 86, 147, 134, 50, 90, 151, 129, 30],
    [106, 163, 135, 32, 110, 167, 140, 37, 125, 184, 159, 58, 139, 200, 177, 78, 143, 204, 182, 83],
  ]);
});

test("a picture that fits keeps its pixels, and is normalised", () => {
  for (const filter of [2, 3]) {
    for (const settings of [{ ...vit, resample: filter }, { ...vit, do_resize: false, do_center_crop: true, crop_size: vit.size }]) {
      const image = picture(5, 4);
      const seen = prepared(image, pictureOf(settings, "vit", 60));
      assert.deepEqual(seen, image);
      const expected = channels(image).flatMap((values, i) => values.map((value) => (value * (1 / 255) - mean[i]) / std[i]));
      assert.deepEqual(numbersOfPicture(seen, pictureOf(settings, "vit", 60)), Float32Array.from(expected));
    }
  }
  const raw = pictureOf({ ...vit, do_rescale: false, do_normalize: false }, "vit", 60);
  assert.deepEqual(numbersOfPicture(picture(5, 4), raw), Float32Array.from(channels(picture(5, 4)).flat()));
});

test("the shorter edge gets the size, and the centre is cropped", () => {
  const settings = pictureOf({ ...clip, size: { shortest_edge: 8 } }, "", 48);
  for (const [height, width, top, left] of [[8, 13, 2, 4], [11, 8, 3, 2]]) {
    const image = picture(height, width);
    const [red] = channels(image);
    const expected = Array.from({ length: 16 }, (_, i) => red[(top + Math.floor(i / 4)) * width + left + (i % 4)]);
    assert.deepEqual(channels(prepared(image, settings))[0], expected);
  }
  const fixed = pictureOf({ ...clip, do_resize: false }, "", 48);
  assert.throws(() => prepared(picture(3, 9), fixed), /at least 4 x 4 pixels, got 9 x 3/);
});

test("settings: defaults of old files, the model's own size, and unknown settings", () => {
  const of = (settings, type = "", numbers = 48) => pictureOf({ ...clip, ...settings }, type, numbers);
  assert.equal(of({}).resize, 5);
  assert.deepEqual(of({ feature_extractor_type: "DeiTFeatureExtractor" }).resize, [5, 5]);
  assert.deepEqual(of({ default_to_square: true }).resize, [5, 5]);
  assert.equal(of({ feature_extractor_type: undefined }, "clip").resize, 5);
  assert.equal(pictureOf(vit, "vit", 60).filter, "bilinear");
  assert.equal(pictureOf(vit, "beit", 60).filter, "bicubic");
  assert.equal(of({ do_pad: false, crop_pct: null, device: null }).rows, 4);
  const larger = of({ size: { shortest_edge: 256 }, crop_size: { height: 224, width: 224 } }, "dinov2", 3 * 518 * 518);
  assert.deepEqual([larger.rows, larger.columns, larger.resize], [518, 518, 592]);
  for (const [settings, message] of [
    [{ do_pad: true }, /do_pad/],
    [{ crop_pct: 0.9 }, /crop_pct/],
    [{ resample: 1 }, /resample is 1/],
    [{ size: { longest_edge: 5 } }, /size is {"longest_edge":5}/],
    [{ size: { shortest_edge: 5, longest_edge: 9 } }, /size is/],
    [{ size: undefined }, /size is undefined/],
    [{ crop_size: "4" }, /crop_size is "4"/],
    [{ do_center_crop: false }, /do not say/],
    [{ image_mean: undefined }, /image_mean is undefined/],
    [{ image_std: [1, 2] }, /image_std is \[1,2\]/],
    [{ crop_size: { height: 4, width: 5 } }, /4 x 5 pixels, and the model reads 48 numbers/],
  ]) {
    assert.throws(() => of(settings), message);
  }
  assert.throws(() => of({}, "videomae", 4 * 48), /videos/);
});

test("settings in the folder of a model", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-picture-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const description = { inputs: [{ name: "pixel_values", most: 1, width: 48 }] };
  const write = (file, value) => writeFileSync(join(folder, file), JSON.stringify(value));
  assert.equal(pictureSettings(folder, { inputs: [{ name: "input_ids" }] }), undefined);
  assert.match(pictureSettings(folder, description).problem, /no preprocessor_config.json/);
  write("preprocessor_config.json", { ...clip, do_pad: true });
  assert.match(pictureSettings(folder, description).problem, /the unknown setting do_pad/);
  write("preprocessor_config.json", clip);
  assert.equal(pictureSettings(folder, description).resize, 5);
  write("processor_config.json", { image_processor: { ...clip, size: { shortest_edge: 7 } } });
  assert.equal(pictureSettings(folder, description).resize, 7);
  writeFileSync(join(folder, "processor_config.json"), "{");
  assert.match(pictureSettings(folder, description).problem, /no pictures/);
});
