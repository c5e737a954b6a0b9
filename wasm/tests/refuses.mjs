import assert from "node:assert/strict";
import { LadonError } from "../dist/index.js";

/** Asserts that `act` fails with a LadonError of this code, whose short message contains all of these texts. */
export const refuses = (act, code, ...texts) =>
  assert.rejects(
    async () => act(),
    (error) => {
      assert.ok(error instanceof LadonError && error instanceof Error, `${error.stack}`);
      assert.equal(error.name, "LadonError");
      assert.equal(error.code, code, error.message);
      assert.ok(error.message.length <= 300, `a message of ${error.message.length} characters`);
      for (const text of texts) assert.ok(error.message.includes(text), `"${error.message}" does not say "${text}"`);
      return true;
    },
  );
