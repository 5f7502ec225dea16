import { describe, expect, it } from "vitest";
import { ACTIONS, helpRows } from "./actions";
import { actionFor, type KeyPress, keyName } from "./keys";

const press = (key: string, changes: Partial<KeyPress> = {}): KeyPress => ({
	key,
	code: "",
	ctrlKey: false,
	metaKey: false,
	shiftKey: false,
	altKey: false,
	...changes,
});
const idFor = (wanted: KeyPress, { typing = false, mac = false } = {}) => actionFor(wanted, typing, mac)?.id;

describe("keys", () => {
	it("undo with Ctrl, or Cmd on a Mac; Shift makes the letter upper case", () => {
		expect(idFor(press("z", { ctrlKey: true }))).toBe("undo");
		expect(idFor(press("Z", { ctrlKey: true, shiftKey: true }))).toBe("redo");
		expect(idFor(press("y", { ctrlKey: true }))).toBe("redo");
		expect(idFor(press("z", { metaKey: true }), { mac: true })).toBe("undo");
		expect(idFor(press("z", { ctrlKey: true }), { mac: true })).toBeUndefined();
	});

	it("belong to the field while one is typed into, but for the few that work anywhere", () => {
		for (const key of ["Backspace", "Delete", "a", "1"])
			expect(idFor(press(key), { typing: true })).toBeUndefined();
		expect(idFor(press("z", { ctrlKey: true }), { typing: true })).toBeUndefined();
		expect(idFor(press("s", { ctrlKey: true }), { typing: true })).toBe("save");
		expect(idFor(press("k", { ctrlKey: true }), { typing: true })).toBe("find");
	});

	it("delete with both keys, move by one or five steps", () => {
		expect([idFor(press("Delete")), idFor(press("Backspace"))]).toEqual(["delete", "delete"]);
		expect(idFor(press("ArrowUp"))).toBe("move-ArrowUp-1");
		expect(idFor(press("ArrowUp", { shiftKey: true }))).toBe("move-ArrowUp-5");
	});

	it("fit and zoom with the digits, whatever Shift makes of them", () => {
		expect(idFor(press("1", { code: "Digit1" }))).toBe("fit");
		expect(idFor(press("!", { code: "Digit1", shiftKey: true }))).toBe("fit");
		expect(idFor(press("0", { code: "Digit0" }))).toBe("full-size");
		expect(idFor(press("?", { shiftKey: true, code: "Minus" }))).toBe("help");
	});

	it("are never given twice", () => {
		const keys = ACTIONS.flatMap((action) => action.keys);
		expect(new Set(keys).size).toBe(keys.length);
	});

	it("are written as this machine writes them", () => {
		expect(keyName("Mod+Shift+Z", false)).toBe("Ctrl+Shift+Z");
		expect(keyName("Mod+Shift+Z", true)).toBe("⌘⇧Z");
		expect(keyName("+", false)).toBe("+");
	});
});

it("the help tells the four arrows and their Shift in one row", () => {
	const arrows = helpRows("Edit").filter(({ keys }) => keys.some((key) => key.includes("Arrow")));
	expect(arrows.map(({ keys }) => keys.length)).toEqual([4]);
});

it("every action that has a key has a row in the help", () => {
	const told = [...new Set(ACTIONS.map(({ group }) => group))].flatMap(helpRows);
	const withKeys = ACTIONS.filter((action) => (action.family ?? action).keys.length > 0);
	for (const action of withKeys) expect(told).toContain(action.family ?? action);
});
