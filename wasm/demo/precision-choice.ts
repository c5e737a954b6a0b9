import type { ShippedPrecision as Precision } from "../src/index.js";
import { byId } from "./dom.js";

/** The user's choice of a precision. */
export class PrecisionChoice {
  readonly #group: HTMLFieldSetElement;
  readonly #choices: readonly HTMLInputElement[];

  /** `id` is the id of a fieldset with a radio button for each precision. */
  constructor(id: string, changed: () => void) {
    this.#group = byId(id, HTMLFieldSetElement);
    this.#choices = Array.from(this.#group.querySelectorAll("input"));
    this.#group.addEventListener("change", changed);
    // Until this line runs, the choices are visible but disabled, because a click before the script is loaded would be
    // lost.
    this.#group.disabled = false;
  }

  get #chosen(): HTMLInputElement {
    return this.#choices.find(({ checked }) => checked)!;
  }

  get value(): Precision {
    return this.#chosen.value as Precision;
  }

  set value(precision: Precision) {
    for (const choice of this.#choices) choice.checked = choice.value === precision;
  }

  focus(): void {
    this.#chosen.focus();
  }

  /** While a model loads, the choice cannot change. */
  set isBusy(busy: boolean) {
    this.#group.disabled = busy;
  }
}
