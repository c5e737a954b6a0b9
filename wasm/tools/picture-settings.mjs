// Reads how the image processor of transformers makes the `pixel_values` of a model from a picture.
import { join } from "node:path";
import { readJson } from "./read-json.mjs";

/** The settings that `pictureOf` reads, and those that do not change the numbers of a picture. */
const known = new Set(
  (
    "do_resize size resample do_center_crop crop_size do_rescale rescale_factor do_normalize image_mean image_std default_to_square " +
    "image_processor_type feature_extractor_type processor_class auto_map data_format input_data_format do_convert_rgb return_tensors"
  ).split(" "),
);
const filters = { 2: "bilinear", 3: "bicubic" }; // the numbers are those of PIL

/** Returns [rows, columns]. A single number counts for both. */
function extentOf(key, value) {
  const extent = Number.isInteger(value) ? [value, value] : [value?.height, value?.width];
  if (!extent.every((one) => Number.isInteger(one) && one > 0)) throw new Error(`${key} is ${JSON.stringify(value)}`);
  return extent;
}

function channelsOf(key, value) {
  if (value?.length !== 3 || !value.every(Number.isFinite)) throw new Error(`${key} is ${JSON.stringify(value)}`);
  return value;
}

/**
 * Returns the settings of picture.ts for a model that reads `numbers` numbers. `type` is the `model_type` of config.json:
 * old files leave out what is the default of the model's image processor. If the model was trained with larger pictures
 * than the image processor makes, as DINOv2 was, all lengths grow to the size of the model.
 */
export function pictureOf(settings, type, numbers) {
  if (type === "videomae") throw new Error("the model reads videos");
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
  const other = Object.keys(given).find((key) => !known.has(key) && given[key] !== false);
  if (other) throw new Error(`preprocessor_config.json has the unknown setting ${other}`);
  const name = given.image_processor_type ?? given.feature_extractor_type ?? type;
  const isSquare = given.default_to_square ?? !/^(bit|chineseclip|clip|dinov2|siglip)/i.test(name);
  const filter = filters[given.resample ?? (/^(vit|dinov3)/i.test(name) ? 2 : 3)];
  if (!filter) throw new Error(`resample is ${given.resample}, and the page knows 2 (bilinear) and 3 (bicubic)`);
  const shortest = given.size?.shortest_edge ?? (isSquare ? undefined : given.size);
  const isShortest = Number.isInteger(shortest) && !given.size.longest_edge;
  const resize = (given.do_resize ?? true) && (isShortest ? shortest : extentOf("size", given.size));
  const crop = (given.do_center_crop ?? given.crop_size !== undefined) && extentOf("crop_size", given.crop_size);
  const made = crop || resize;
  if (!Array.isArray(made)) throw new Error("size and crop_size do not say how many pixels a picture gets");
  const growth = Math.sqrt(numbers / (3 * made[0] * made[1]));
  const grown = (extent) => extent.map((one) => Math.round(one * growth));
  const [rows, columns] = grown(made);
  const isSimilar = rows * made[1] === columns * made[0];
  if (3 * rows * columns !== numbers || !isSimilar) throw new Error(`the picture gets ${made.join(" x ")} pixels, and the model reads ${numbers} numbers`);
  return {
    rows,
    columns,
    resize: resize && (Array.isArray(resize) ? grown(resize) : Math.round(resize * growth)),
    filter,
    factor: (given.do_rescale ?? true) ? (given.rescale_factor ?? 1 / 255) : 1,
    ...((given.do_normalize ?? true)
      ? { mean: channelsOf("image_mean", given.image_mean), std: channelsOf("image_std", given.image_std) }
      : { mean: [0, 0, 0], std: [1, 1, 1] }),
  };
}

/** Returns the settings of pictures, or the reason why the page reads none. Undefined if the model has no input of pictures. */
export function pictureSettings(folder, { inputs }) {
  const input = inputs.find(({ name }) => name === "pixel_values");
  if (!input) return undefined;
  try {
    // Version 5 of transformers writes the settings into the file of the whole processor.
    const { image_processor: inner } = readJson(join(folder, "processor_config.json"));
    const settings = inner ?? readJson(join(folder, "preprocessor_config.json"));
    if (Object.keys(settings).length === 0) throw new Error("the model's folder has no preprocessor_config.json");
    return pictureOf(settings, readJson(join(folder, "config.json")).model_type, input.most * input.width);
  } catch ({ message }) {
    return { problem: `The page reads no pictures: ${message}.` };
  }
}
