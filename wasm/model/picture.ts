// Makes the `pixel_values` of a picture as the image processors of transformers do: scales, crops, and normalises.

/** wasm/tools/picture-settings.mjs makes these settings from preprocessor_config.json. */
export interface PictureSettings {
  /** The pixels that the model reads: the centre of the scaled picture. */
  readonly rows: number;
  readonly columns: number;
  /** The size of the scaled picture: [rows, columns], or the shorter of both. False if the picture is not scaled. */
  readonly resize: readonly [number, number] | number | false;
  readonly filter: "bilinear" | "bicubic";
  readonly factor: number;
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

/** RGBA pixels [height][width]. */
export interface Pixels {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
}

/** The filters of PIL, and the distance from which they are 0. */
const filters = {
  bilinear: { reach: 1, at: (x: number): number => Math.max(0, 1 - Math.abs(x)) },
  bicubic: {
    reach: 2,
    at(x: number): number {
      const a = -0.5;
      const d = Math.abs(x);
      if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
      return d < 2 ? (((d - 5) * d + 8) * d - 4) * a : 0;
    },
  },
};

/**
 * Scales RGBA pixels [rows][columns] to [to][rows]: to `to` columns, and exchanges rows and columns. So two calls scale a
 * picture in both directions. PIL, too, rounds the weights to 22 bits behind the point, and version 11.3 scales the
 * columns first.
 */
function scaledColumns(pixels: Uint8ClampedArray, rows: number, to: number, { reach, at }: typeof filters.bicubic): Uint8ClampedArray {
  const columns = pixels.length / 4 / rows;
  const result = new Uint8ClampedArray(4 * to * rows);
  const scale = columns / to;
  const stretch = Math.max(scale, 1);
  for (let column = 0; column < to; ++column) {
    const centre = (column + 0.5) * scale;
    const first = Math.max(0, Math.floor(centre - reach * stretch + 0.5));
    const end = Math.min(columns, Math.floor(centre + reach * stretch + 0.5));
    const weights = Array.from({ length: end - first }, (_, i) => at((first + i - centre + 0.5) / stretch));
    const sum = weights.reduce((a, b) => a + b, 0);
    const fixed = weights.map((weight) => Math.sign(weight) * Math.floor(Math.abs(weight / sum) * 2 ** 22 + 0.5));
    for (let row = 0; row < rows; ++row) {
      for (let channel = 0; channel < 4; ++channel) {
        let value = 2 ** 21;
        let from = 4 * (row * columns + first) + channel;
        for (let i = 0; i < fixed.length; ++i, from += 4) value += pixels[from]! * fixed[i]!;
        result[4 * (column * rows + row) + channel] = value >> 22;
      }
    }
  }
  return result;
}

/** Returns the size to which a picture is scaled. */
function scaledSize({ width, height }: Pixels, { resize }: PictureSettings): readonly [number, number] {
  if (typeof resize !== "number") return resize || [height, width];
  const longer = Math.floor((resize * Math.max(width, height)) / Math.min(width, height));
  return width < height ? [longer, resize] : [resize, longer];
}

/** Scales a picture, and returns its centre: what the model sees. */
export function prepared(image: Pixels, settings: PictureSettings): Pixels {
  const filter = filters[settings.filter];
  const { rows, columns } = settings;
  const [height, width] = scaledSize(image, settings);
  if (height < rows || width < columns) throw new Error(`Expected a picture of at least ${columns} x ${rows} pixels, got ${width} x ${height}`);
  const scaled = scaledColumns(scaledColumns(image.data, image.height, width, filter), width, height, filter);
  const [top, left] = [Math.floor((height - rows) / 2), Math.floor((width - columns) / 2)];
  const data = new Uint8ClampedArray(4 * rows * columns);
  for (let row = 0; row < rows; ++row) {
    const from = 4 * ((top + row) * width + left);
    data.set(scaled.subarray(from, from + 4 * columns), 4 * row * columns);
  }
  return { data, width: columns, height: rows };
}

/** Returns the pixels of an image file, without its colour profile, which PIL ignores, too. Transparent parts become black. */
async function pixelsIn(file: Blob): Promise<Pixels> {
  const bitmap = await createImageBitmap(file, { colorSpaceConversion: "none" });
  const { width, height } = bitmap;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true })!;
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, width, height);
}

/** Returns what the model sees of an image file. */
export const pictureIn = async (file: Blob, settings: PictureSettings): Promise<Pixels> => prepared(await pixelsIn(file), settings);

/** Returns the `pixel_values` [3][rows][columns] of a picture. */
export function numbersOfPicture({ data }: Pixels, { factor, mean, std }: PictureSettings): Float32Array {
  const pixels = data.length / 4;
  return Float32Array.from({ length: 3 * pixels }, (_, i) => {
    const channel = Math.floor(i / pixels);
    return (data[4 * (i % pixels) + channel]! * factor - mean[channel]!) / std[channel]!;
  });
}
