import { Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { type GraphReport, reportOn } from "../api/playbooks";
import { plural } from "../ui/format";
import { Wait } from "../ui/Wait";
import { useDocument, useEditor } from "./editor";
import { jumpTo } from "./operations";
import styles from "./report.module.css";

type NamedStage = GraphReport["ends"][number];
type Hop = GraphReport["shortest"][number];
type Gate = GraphReport["gates"][number];

function useReport() {
	const playbook = useDocument();
	const [report, setReport] = useState<GraphReport | null>(null);
	const [failure, setFailure] = useState<string | null>(null);
	useEffect(() => {
		const mine = new AbortController();
		reportOn(playbook, mine.signal)
			.then(setReport)
			.catch((error: unknown) => {
				if (!mine.signal.aborted) setFailure(error instanceof Error ? error.message : String(error));
			});
		return () => mine.abort();
	}, [playbook]);
	return { report, failure };
}

interface Showing {
	show: (place: { stageId?: string; transitionId?: string }) => void;
}

function StageLink({ stage, show }: { stage: NamedStage } & Showing) {
	return (
		<button type="button" className={styles.link} onClick={() => show({ stageId: stage.id })}>
			{stage.name || stage.id}
		</button>
	);
}

function Path({ hops, show }: { hops: readonly Hop[] } & Showing) {
	if (hops.length === 0) return <p className={styles.quiet}>None: no conversation ends by itself.</p>;
	return (
		<ol className={styles.list}>
			{hops.map(({ stage, transition }, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: a path is what it is by its order
				<li key={index}>
					<StageLink stage={stage} show={show} />
					{transition && (
						<button
							type="button"
							className={styles.quietLink}
							onClick={() => show({ transitionId: transition })}
						>
							by {transition}
						</button>
					)}
				</li>
			))}
		</ol>
	);
}

function gateWords({ always, behind }: Gate): string {
	const only = behind > 0 ? `the only way to ${plural(behind, "other stage")}` : "";
	return [always ? "every conversation that ends" : "", only].filter(Boolean).join("; ");
}

function Gates({ gates, show }: { gates: readonly Gate[] } & Showing) {
	if (gates.length === 0) return <p className={styles.quiet}>No stage is the only way to another.</p>;
	return (
		<ul className={styles.list}>
			{gates.map((gate) => (
				<li key={gate.stage.id}>
					<StageLink stage={gate.stage} show={show} /> <span className={styles.quiet}>{gateWords(gate)}</span>
				</li>
			))}
		</ul>
	);
}

function Groups({ title, groups, show }: { title: string; groups: readonly NamedStage[][] } & Showing) {
	if (groups.length === 0) return null;
	return (
		<>
			<h3>{title}</h3>
			<ul className={styles.list}>
				{groups.map((group) => (
					<li key={group[0]?.id}>
						{group.map((stage) => (
							<StageLink key={stage.id} stage={stage} show={show} />
						))}
					</li>
				))}
			</ul>
		</>
	);
}

function Advice({ report, show }: { report: GraphReport } & Showing) {
	const advice = report.diagnostics.filter(({ severity }) => severity === "advice");
	if (advice.length === 0) return null;
	return (
		<>
			<h3>Advice</h3>
			<ul className={styles.list}>
				{advice.map(({ code, path, message, stage }) => (
					<li key={`${code} ${path}`}>
						{message}{" "}
						{stage && (
							<button type="button" className={styles.quietLink} onClick={() => show({ stageId: stage })}>
								show it
							</button>
						)}
					</li>
				))}
			</ul>
		</>
	);
}

function Report({ report, show }: { report: GraphReport } & Showing) {
	const off = report.switchedOff > 0 ? `, ${report.switchedOff} more switched off` : "";
	return (
		<div className={styles.report}>
			<p>
				{plural(report.stages, "stage")}, {plural(report.ends.length, "end")} among them;{" "}
				{plural(report.transitions, "transition")}
				{off}; {plural(report.loops, "loop")}.
			</p>
			<h3>Shortest path to an end</h3>
			<Path hops={report.shortest} show={show} />
			<h3>No way around</h3>
			<Gates gates={report.gates} show={show} />
			<Groups title="No way to an end" groups={report.traps} show={show} />
			<Groups title="Never reached" groups={report.unreachable.map((stage) => [stage])} show={show} />
			<Advice report={report} show={show} />
		</div>
	);
}

/** What the graph is like: the same report as `manage.py validate FILE --report`. */
export function ReportDialog({ onClose }: { onClose: () => void }) {
	const editor = useEditor();
	const { report, failure } = useReport();
	const show: Showing["show"] = (place) => {
		onClose();
		jumpTo(editor, place);
	};
	return (
		<Modal opened onClose={onClose} title="Report on the graph" size="lg">
			{failure && <p role="alert">The report could not be made: {failure}</p>}
			{!report && !failure && <Wait what="Looking at the graph" />}
			{report && <Report report={report} show={show} />}
		</Modal>
	);
}
