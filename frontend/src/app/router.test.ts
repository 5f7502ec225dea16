import { expect, it } from "vitest";
import { parseRoute, paths } from "./router";

it("reads back the addresses it writes", () => {
	expect(parseRoute(paths.gallery())).toEqual({ name: "gallery" });
	expect(parseRoute(paths.workbench("a b/c"))).toEqual({ name: "workbench", playbookId: "a b/c" });
	const page = { name: "inspect", playbookId: null, sessionId: "s1", call: 6 };
	expect(parseRoute(paths.inspect("s1", 6))).toEqual(page);
	expect(parseRoute(paths.inspect("s1", null))).toEqual({ ...page, call: null });
	expect(parseRoute("/playbooks/p/inspect/s1/6")).toEqual({ ...page, playbookId: "p" });
	expect(parseRoute("/elsewhere")).toEqual({ name: "unknown" });
});

it("takes an address that cannot be decoded for one that does not exist", () => {
	expect(parseRoute("/%E0%A4%A")).toEqual({ name: "unknown" });
});
