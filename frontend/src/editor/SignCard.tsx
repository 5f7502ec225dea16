import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import type { SignData } from "../playbook/derive";
import styles from "./graph.module.css";

const SIGNS = { any: "✱", agent: "⬡", missing: "▲", returns: "↩" } as const;

/** The end of an edge where no stage stands: any stage, another playbook, a stage that is missing. */
export const SignCard = memo(function SignCard({ data }: NodeProps<Node<SignData, "sign">>) {
	return (
		<div className={styles.signCard} data-sign={data.sign}>
			<Handle type="target" position={Position.Left} className={styles.hiddenHandle} isConnectable={false} />
			<span aria-hidden="true">{SIGNS[data.sign]}</span> {data.label}
			<Handle type="source" position={Position.Right} className={styles.hiddenHandle} isConnectable={false} />
		</div>
	);
});
