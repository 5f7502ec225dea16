import type { PlaybookSummary } from "../../api/playbooks";
import { STAGE_HEIGHT, STAGE_WIDTH } from "../../playbook/layout";
import { pictureOf } from "../../playbook/thumbnail";
import styles from "./gallery.module.css";

/** Stages that have no place yet stand in a row. */
function placed({ stages, edges }: PlaybookSummary["thumbnail"]) {
	const at = (value: number | null, index: number, step: number) => value ?? index * step;
	return {
		stages: stages.map(({ id, kind, x, y }, index) => ({ id, kind, x: at(x, index, 360), y: at(y, 0, 0) })),
		edges,
	};
}

export function GraphPicture({ thumbnail }: { thumbnail: PlaybookSummary["thumbnail"] }) {
	const graph = placed(thumbnail);
	const { viewBox, lines } = pictureOf(graph, STAGE_WIDTH, STAGE_HEIGHT);
	return (
		<svg className={styles.picture} viewBox={viewBox} aria-hidden="true" focusable="false">
			{lines.map(({ key, from, to }) => (
				<line
					key={key}
					x1={from.x + STAGE_WIDTH / 2}
					y1={from.y + STAGE_HEIGHT / 2}
					x2={to.x + STAGE_WIDTH / 2}
					y2={to.y + STAGE_HEIGHT / 2}
				/>
			))}
			{graph.stages.map(({ id, x, y, kind }) => (
				<rect key={id} x={x} y={y} width={STAGE_WIDTH} height={STAGE_HEIGHT} rx={14} data-kind={kind} />
			))}
		</svg>
	);
}
