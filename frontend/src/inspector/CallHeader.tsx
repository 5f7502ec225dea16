import { ActionIcon } from "@mantine/core";
import type { ReactNode } from "react";
import { useStore } from "zustand";
import type { KnownCall } from "../api/frames";
import type { CallFacts, LiveState } from "../api/liveState";
import { agentOf, endTitle, placed } from "../playbook/labels";
import { CloseIcon, MaximiseIcon } from "../ui/icons";
import { CallStrip } from "./CallStrip";
import common from "./common.module.css";
import styles from "./Inspector.module.css";
import type { InspectorPanelProps } from "./props";

interface CallHeaderProps extends Omit<InspectorPanelProps, "call"> {
	numbers: readonly number[];
	chosen: number | null;
	call: KnownCall | undefined;
	children: ReactNode;
}

/** What is worth saying of the call's state: nothing once it is complete. */
function statusWords(state: LiveState, number: number | null): string {
	if (number === null) return "";
	const call = state.calls.get(number);
	const status = state.facts.get(number)?.status ?? call?.status;
	if (status === "running") {
		const streaming = state.activity?.call === number && state.activity.doing === "streaming";
		return streaming ? "streaming" : "waiting for the first word";
	}
	if (status === "failed") return call?.error?.code === "superseded" ? "not used" : "failed";
	return status === "interrupted" ? "stopped" : "";
}

/** "claude-sonnet-5", "qwen2.5 over local": a vendor's own connection goes without saying. */
function modelWords(call: KnownCall | CallFacts): string {
	if (call.provider === "rehearsal") return "rehearsal (no model)";
	const connection = "connection" in call ? call.connection : "";
	return connection && connection !== call.provider ? `${call.model} over ${connection}` : call.model;
}

/** The settings that the model does not support, in a few words; empty if all were sent. */
function leftOutWords(call: KnownCall | CallFacts): string {
	const names = "leftOut" in call ? (call.leftOut ?? []) : [];
	return names.length > 0 ? `${names.join(", ")} not supported by this model` : "";
}

/** The calls that the model wrote as text, in a few words; empty if it made them properly. */
function recoveredWords(call: KnownCall | CallFacts): string {
	const names = "recovered" in call ? (call.recovered ?? []) : [];
	return names.length > 0 ? `${names.join(", ")} recovered from text` : "";
}

const ENDS: Readonly<Record<string, string>> = {
	max_tokens: "cut off at the output limit",
	context_window_exceeded: "cut off: the model's window is full",
	pause_turn: "paused for a tool of its provider",
	refusal: "refused in its own words",
};

/** What is worth saying of how the message ended: nothing of one that came to its end. */
function endWords(call: KnownCall | CallFacts): string {
	return ("stop" in call && call.stop && ENDS[call.stop]) || "";
}

/** "turn 2 · phase 1 · Triage" */
function Place({
	call,
	...props
}: { call: KnownCall | CallFacts } & Pick<CallHeaderProps, "document" | "onStageSelected">) {
	return (
		<span className={styles.place}>
			turn {call.turn} · {call.phase > 0 ? `phase ${call.phase}` : "beside the turn"} ·{" "}
			<button type="button" className={common.link} onClick={() => props.onStageSelected(call.stage)}>
				{endTitle(props.document, placed("lane" in call ? agentOf(call.lane) : "", call.stage))}
			</button>{" "}
			· {modelWords(call)}
			{[leftOutWords(call), recoveredWords(call), endWords(call)].filter(Boolean).map((words) => (
				<span key={words} className={styles.leftOut}>
					{" "}
					· {words}
				</span>
			))}
		</span>
	);
}

function Step({
	to,
	sign,
	label,
	onStep,
}: {
	to?: number;
	sign: string;
	label: string;
	onStep: (to: number) => void;
}) {
	return (
		<button
			type="button"
			className={styles.step}
			aria-label={label}
			title={label}
			disabled={to === undefined}
			onClick={() => to !== undefined && onStep(to)}
		>
			<span aria-hidden="true">{sign}</span>
		</button>
	);
}

/** Which call is shown, the tabs, the strip of all calls, and what can be done with the dock. */
export function CallHeader(props: CallHeaderProps) {
	const { live, numbers, chosen, call, maximised, onCallSelected } = props;
	const status = useStore(live, (state) => statusWords(state, chosen));
	const facts = useStore(live, (state) => (chosen === null ? undefined : state.facts.get(chosen)));
	const known = call ?? facts;
	const at = chosen === null ? -1 : numbers.indexOf(chosen);
	return (
		<header className={styles.header}>
			<div className={styles.which}>
				<h2 className={styles.title}>{chosen === null ? "Inspector" : `Call ${chosen}`}</h2>
				{chosen !== null && (
					<span className={styles.steps}>
						<Step to={numbers[at - 1]} sign="‹" label="Previous call ([)" onStep={onCallSelected} />
						<Step to={numbers[at + 1]} sign="›" label="Next call (])" onStep={onCallSelected} />
					</span>
				)}
				{known && <Place call={known} document={props.document} onStageSelected={props.onStageSelected} />}
				{status && (
					<span className={status === "failed" ? common.bad : styles.status} role="status">
						{status}
					</span>
				)}
			</div>
			{props.children}
			<div className={styles.right}>
				<CallStrip live={live} numbers={numbers} chosen={chosen} onCallSelected={onCallSelected} />
				<ActionIcon
					variant="subtle"
					color="gray"
					size={28}
					aria-label={maximised ? "Back to the workbench" : "Maximise"}
					title={maximised ? "Back to the workbench" : "Maximise: a page of its own"}
					onClick={props.onMaximise}
				>
					<MaximiseIcon />
				</ActionIcon>
				<ActionIcon
					variant="subtle"
					color="gray"
					size={28}
					aria-label="Close inspector"
					title="Close (Esc)"
					onClick={props.onClose}
				>
					<CloseIcon />
				</ActionIcon>
			</div>
		</header>
	);
}
