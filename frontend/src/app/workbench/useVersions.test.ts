import { expect, it } from "vitest";
import { versionWords } from "./useVersions";

it("a draft that was never kept is called so", () => {
	expect(versionWords(0, false)).toBe("draft");
});

it("a draft that was edited since its newest version is not called by the version alone", () => {
	expect(versionWords(3, false)).toBe("v 3");
	expect(versionWords(3, true)).toBe("v 3 + edits");
});
