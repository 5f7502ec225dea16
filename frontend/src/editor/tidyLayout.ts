/** A layered layout by dagre, left to right. Runs in a worker; pure, so that a test can call it. */
import { Graph, layout } from "@dagrejs/dagre";
import type { Position } from "../playbook/types";

const LABEL_HEIGHT = 24;

export interface TidyRequest {
	readonly nodes: readonly { readonly id: string; readonly width: number; readonly height: number }[];
	readonly edges: readonly { readonly from: string; readonly to: string; readonly labelWidth: number }[];
}

export function tidyLayout({ nodes, edges }: TidyRequest): Record<string, Position> {
	const graph = new Graph({ multigraph: true });
	graph.setGraph({ rankdir: "LR", nodesep: 56, ranksep: 70, marginx: 0, marginy: 0 });
	graph.setDefaultEdgeLabel(() => ({}));
	for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
	edges.forEach(({ from, to, labelWidth }, index) => {
		if (from !== to)
			graph.setEdge(from, to, { width: labelWidth, height: LABEL_HEIGHT, labelpos: "c" }, String(index));
	});
	layout(graph);
	return Object.fromEntries(
		nodes.map(({ id, width, height }) => {
			const { x, y } = graph.node(id) as Position;
			return [id, { x: Math.round((x - width / 2) / 8) * 8, y: Math.round((y - height / 2) / 8) * 8 }];
		}),
	);
}
