/** Where the pieces of the window bar lie: to scale in tokens, but never too thin to be seen. */

export interface Cell {
	readonly x: number;
	readonly width: number;
}

/** Narrowest cell, in pixels. */
export const THINNEST = 3;

/**
 * Lays cells of these sizes side by side over `width` pixels. Cells that would be thinner than `thinnest` get
 * that, and the others share what is left by their sizes. The row grows past `width` only if all are thinnest.
 */
export function layOut(sizes: readonly number[], width: number, thinnest = THINNEST): Cell[] {
	const widths = sizes.map(() => thinnest);
	let open = sizes.map((_, index) => index);
	for (;;) {
		const room = width - thinnest * (sizes.length - open.length);
		const total = open.reduce((sum, index) => sum + (sizes[index] ?? 0), 0);
		const scale = total > 0 ? room / total : 0;
		const wide = open.filter((index) => (sizes[index] ?? 0) * scale >= thinnest);
		if (wide.length === open.length) {
			for (const index of wide) widths[index] = (sizes[index] ?? 0) * scale;
			break;
		}
		open = wide;
	}
	let x = 0;
	return widths.map((one) => {
		const cell = { x, width: one };
		x += one;
		return cell;
	});
}

/**
 * Left edges for labels that want to be centred at `centres` (ascending): moved as little as keeps them apart
 * and inside `width`.
 */
export function placeLabels(centres: readonly number[], label: number, width: number, gap = 4): number[] {
	const lefts: number[] = [];
	for (const centre of centres) {
		const previous = lefts.at(-1);
		const wanted = Math.max(0, centre - label / 2);
		lefts.push(previous === undefined ? wanted : Math.max(wanted, previous + label + gap));
	}
	let limit = width - label;
	for (let index = lefts.length - 1; index >= 0; index--) {
		const left = Math.min(lefts[index] ?? 0, limit);
		lefts[index] = Math.max(0, left);
		limit = left - label - gap;
	}
	return lefts;
}
