import { expect, it } from "vitest";
import { panInto } from "./useCanvasView";

const box = (left: number, top: number, width = 200, height = 80) => new DOMRect(left, top, width, height);
const area = box(0, 0, 1000, 600);

it("does not move the view while the stage can be seen", () => {
	expect(panInto(area, [box(400, 300)])).toEqual({ x: 0, y: 0 });
});

it("moves it just far enough, clear of the edge and of the tool rail", () => {
	expect(panInto(area, [box(900, 300)])).toEqual({ x: -124, y: 0 });
	expect(panInto(area, [box(0, 300)])).toEqual({ x: 88, y: 0 });
	expect(panInto(area, [box(400, -10)])).toEqual({ x: 0, y: 34 });
	expect(panInto(area, [box(400, 590)])).toEqual({ x: 0, y: -94 });
});
