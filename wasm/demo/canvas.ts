/**
 * Gives a canvas one pixel for each pixel of the screen, so that lines are sharp. Returns null if the canvas is not
 * shown.
 */
export function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  if (width < 1 || height < 1) return null;
  const density = devicePixelRatio;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const context = canvas.getContext("2d")!;
  context.setTransform(density, 0, 0, density, 0, 0);
  return context;
}
