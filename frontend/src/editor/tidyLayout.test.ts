import { expect, it } from "vitest";
import { tidyLayout } from "./tidyLayout";

const node = (id: string) => ({ id, width: 214, height: 84 });

it("puts what follows to the right, with room for the label between", () => {
	const places = tidyLayout({
		nodes: [node("a"), node("b"), node("c")],
		edges: [
			{ from: "a", to: "b", labelWidth: 200 },
			{ from: "a", to: "c", labelWidth: 60 },
			{ from: "b", to: "b", labelWidth: 60 },
		],
	});
	const { a, b, c } = places;
	if (!a || !b || !c) throw new Error("a stage has no place");
	expect(b.x - (a.x + 214)).toBeGreaterThan(200);
	expect(b.x).toBe(c.x);
	expect(Math.abs(b.y - c.y)).toBeGreaterThanOrEqual(84);
	expect([a, b, c].every(({ x, y }) => x % 8 === 0 && y % 8 === 0)).toBe(true);
});
