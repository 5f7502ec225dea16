/** A playbook's graph as a small picture: boxes and lines in a view box. */
export interface ThumbnailStage {
	readonly id: string;
	readonly x: number;
	readonly y: number;
	readonly kind: string;
}
export interface Thumbnail {
	readonly stages: readonly ThumbnailStage[];
	readonly edges: readonly (readonly [string, string])[];
}
export interface Picture {
	readonly viewBox: string;
	readonly lines: readonly {
		readonly key: string;
		readonly from: ThumbnailStage;
		readonly to: ThumbnailStage;
	}[];
}

const MARGIN = 40;

/** `width` and `height` are those of a card. The view box keeps cards of small playbooks from growing huge. */
export function pictureOf({ stages, edges }: Thumbnail, width: number, height: number): Picture {
	const known = new Map(stages.map((stage) => [stage.id, stage]));
	const lines = edges.flatMap(([from, to], index) => {
		const start = known.get(from);
		const end = known.get(to);
		return start && end && from !== to ? [{ key: `${from} ${to} ${index}`, from: start, to: end }] : [];
	});
	const across = spanOf(
		stages.map(({ x }) => x),
		width,
	);
	const down = spanOf(
		stages.map(({ y }) => y),
		height,
	);
	return { viewBox: [across.start, down.start, across.length, down.length].join(" "), lines };
}

/** From the first card to the last with a margin, at least four cards long, the cards in its middle. */
function spanOf(places: readonly number[], card: number): { start: number; length: number } {
	const first = Math.min(...places);
	const taken = Math.max(...places) + card - first;
	const length = Math.max(taken, 4 * card);
	return { start: first - (length - taken) / 2 - MARGIN, length: length + 2 * MARGIN };
}
