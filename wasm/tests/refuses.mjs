import assert from "node:assert/strict";
import { LadonError } from "../dist/index.js";

/**
 * Asserts that `act` fails with a LadonError that has the code `code`. The message of the error must have at most 300
 * characters and contain each of `texts`, which
 * are strings or regular expressions.
 */
export const refuses = (act, code, ...texts) =>
  assert.rejects(
    async () => act(),
    (error) => {
      assert.ok(error instanceof LadonError && error instanceof Error, `${error.stack}`);
      assert.equal(error.name, "LadonError");
      assert.equal(error.code, code, error.message);
      assert.ok(error.message.length <= 300, `a message of ${error.message.length} characters`);
      for (const text of texts) {
        const says = text instanceof RegExp ? text.test(error.message) : error.message.includes(text);
        assert.ok(says, `"${error.message}" does not say "${text}"`);
      }
      return true;
    },
  );
