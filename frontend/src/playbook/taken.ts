/** Boxes that are taken, in a grid, so that finding what overlaps a box does not look at all of them. */
export interface Box {
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
}

const CELL = 256;
/** Boxes keep this distance, in canvas pixels. */
const MARGIN = 4;

export class TakenBoxes {
	readonly #cells = new Map<string, Box[]>();

	constructor(boxes: Iterable<Box>) {
		for (const box of boxes) this.add(box);
	}

	add(box: Box): void {
		for (const cell of cellsOf(box)) {
			const there = this.#cells.get(cell);
			if (there) there.push(box);
			else this.#cells.set(cell, [box]);
		}
	}

	/** How much of the box is covered, in square pixels; what is covered twice counts twice. */
	covered(box: Box): number {
		const near = new Set<Box>();
		for (const cell of cellsOf(box)) for (const other of this.#cells.get(cell) ?? []) near.add(other);
		let area = 0;
		for (const other of near) area += overlap(box, other);
		return area;
	}
}

function cellsOf({ x, y, width, height }: Box): string[] {
	const cells = [];
	const [left, right] = [Math.floor((x - MARGIN) / CELL), Math.floor((x + width + MARGIN) / CELL)];
	const [top, bottom] = [Math.floor((y - MARGIN) / CELL), Math.floor((y + height + MARGIN) / CELL)];
	for (let column = left; column <= right; column++) {
		for (let row = top; row <= bottom; row++) cells.push(`${column} ${row}`);
	}
	return cells;
}

function overlap(a: Box, b: Box): number {
	const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) + MARGIN;
	const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) + MARGIN;
	return width > 0 && height > 0 ? width * height : 0;
}
