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
	const left = Math.min(...stages.map(({ x }) => x), 0);
	const top = Math.min(...stages.map(({ y }) => y), 0);
	const right = Math.max(...stages.map(({ x }) => x + width), left + 4 * width);
	const bottom = Math.max(...stages.map(({ y }) => y + height), top + 4 * height);
	const size = [left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN];
	return { viewBox: size.join(" "), lines };
}
