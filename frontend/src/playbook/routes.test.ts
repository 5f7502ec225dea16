import { expect, it } from "vitest";
import { type Box, facingSides, routeWires } from "./routes";

const card = (x: number, y: number): Box => ({ x, y, width: 214, height: 84 });
const label = { width: 100, height: 24 };

it("leaves by the side that faces the other stage", () => {
	expect(facingSides(card(0, 0), card(400, 50))).toEqual({ out: "right", into: "left" });
	expect(facingSides(card(400, 50), card(0, 0))).toEqual({ out: "left", into: "right" });
	expect(facingSides(card(0, 0), card(20, 300))).toEqual({ out: "bottom", into: "top" });
});

it("draws edges between the same two stages apart, whatever their direction", () => {
	const boxes = new Map([
		["a", card(0, 0)],
		["b", card(400, 0)],
	]);
	const courses = routeWires(
		[
			{ id: "1", source: "a", target: "b", label },
			{ id: "2", source: "a", target: "b", label },
			{ id: "3", source: "b", target: "a", label },
		],
		boxes,
	);
	expect(new Set([...courses.values()].map(({ path }) => path)).size).toBe(3);
	const starts = ["1", "2"].map((id) => courses.get(id)?.start.y ?? 0);
	const ends = ["1", "2"].map((id) => courses.get(id)?.end.y ?? 0);
	expect(starts[0]).toBeLessThan(starts[1] ?? 0);
	expect(ends[0]).toBeLessThan(ends[1] ?? 0);
});

it("draws every self-loop of a stage larger than the one before", () => {
	const loops = ["1", "2"].map((id) => ({ id, source: "a", target: "a", label }));
	const courses = routeWires(loops, new Map([["a", card(0, 0)]]));
	expect(courses.get("1")?.path).not.toBe(courses.get("2")?.path);
	expect(courses.get("2")?.label.y).toBeLessThan(courses.get("1")?.label.y ?? 0);
});

it("moves a label away from the card that stands on the edge's middle", () => {
	const boxes = new Map([
		["a", card(0, 0)],
		["b", card(800, 0)],
		["between", { x: 450, y: 0, width: 114, height: 84 }],
	]);
	const course = routeWires([{ id: "1", source: "a", target: "b", label }], boxes).get("1");
	expect(Math.abs((course?.label.x ?? 507) - 507)).toBeGreaterThan(100);
});

it("cuts a label to the room between two cards instead of covering them, and only then", () => {
	const between = (x: number) => {
		const boxes = new Map([
			["a", card(0, 0)],
			["b", card(x, 0)],
		]);
		const long = { width: 150, height: 24 };
		return routeWires([{ id: "1", source: "a", target: "b", label: long }], boxes).get("1")?.label;
	};
	expect(between(414)?.cutTo).toBeNull();
	const tight = between(344);
	expect(tight?.cutTo).toBeLessThan(344 - 214);
	expect((tight?.x ?? 0) - (tight?.cutTo ?? 0) / 2).toBeGreaterThan(214);
	expect(between(250)?.cutTo).toBeNull();
});

it("leaves out an edge whose stage is not there", () => {
	expect(routeWires([{ id: "1", source: "a", target: "b", label }], new Map()).size).toBe(0);
});

it("routes a large graph fast enough to be dragged", () => {
	const boxes = new Map(
		Array.from({ length: 500 }, (_, n) => [`s${n}`, card((n % 25) * 360, Math.floor(n / 25) * 180)]),
	);
	const wires = Array.from({ length: 2000 }, (_, n) => ({
		id: `t${n}`,
		source: `s${n % 500}`,
		target: `s${(n * 7 + 1) % 500}`,
		label,
	}));
	const before = performance.now();
	expect(routeWires(wires, boxes).size).toBeGreaterThan(1900);
	expect(performance.now() - before).toBeLessThan(2000);
});
