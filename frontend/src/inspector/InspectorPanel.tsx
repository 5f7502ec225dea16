/** The inspector: what one call's model was sent, what of it was cached, what it cost, why the talk moved on. */
import { Tabs } from "@mantine/core";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { KnownCall } from "../api/frames";
import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";
import { isTypingPlace } from "../ui/typing";
import { CallHeader } from "./CallHeader";
import { ChangesTab } from "./ChangesTab";
import { CostTab } from "./CostTab";
import common from "./common.module.css";
import { rulesOfTurn } from "./facts";
import styles from "./Inspector.module.css";
import type { InspectorPanelProps, TabProps } from "./props";
import { RequestTab } from "./RequestTab";
import { RulesTab } from "./RulesTab";
import { StateTab } from "./StateTab";
import { useCallWindow } from "./useCallWindow";
import { hasModifier, useStepKeys } from "./useStepKeys";
import { WindowTab } from "./WindowTab";

export type { InspectorPanelProps } from "./props";

type Tab = "window" | "changes" | "state" | "rules" | "cost" | "request";

/** Numbers of all calls that are known, in order. */
function useCallNumbers(live: LiveSessionStore): number[] {
	const facts = useStore(live, (state) => state.facts);
	const calls = useStore(live, (state) => state.calls);
	return useMemo(
		() => [...new Set([...facts.keys(), ...calls.keys()])].sort((a, b) => a - b),
		[facts, calls],
	);
}

function Empty() {
	return (
		<div className={styles.empty}>
			<p>
				<strong>What the model was sent appears here, call by call.</strong>
			</p>
			<p>
				Open the test chat with Talk and write a message: each reply is a call, and each call shows its
				window, what was read from the cache, what it cost, and why the conversation moved on.
			</p>
		</div>
	);
}

function useRuleCount(live: LiveSessionStore, call: KnownCall | undefined): number {
	const events = useStore(live, (state) => state.events);
	const turn = call?.turn ?? -1;
	return useMemo(() => rulesOfTurn(events, turn).length, [events, turn]);
}

function TabBody({ tab, ...props }: TabProps & { tab: Tab }) {
	switch (tab) {
		case "window":
			return <WindowTab {...props} />;
		case "changes":
			return <ChangesTab {...props} />;
		case "state":
			return <StateTab {...props} />;
		case "rules":
			return <RulesTab {...props} />;
		case "cost":
			return <CostTab {...props} />;
		case "request":
			return <RequestTab {...props} />;
	}
}

export function InspectorPanel(props: InspectorPanelProps) {
	const { live, onCallSelected } = props;
	const sessionId = useStore(live, (state) => state.sessionId) ?? props.sessionId;
	const [tab, setTab] = useState<Tab>("window");
	const numbers = useCallNumbers(live);
	const chosen = props.call !== null && numbers.includes(props.call) ? props.call : (numbers.at(-1) ?? null);
	const { call, problem } = useCallWindow(live, chosen);
	const rules = useRuleCount(live, call);
	const panel = useRef<HTMLElement>(null);
	useStepKeys(panel, { numbers, chosen, onCallSelected });
	const runs = useStore(live, (state) => state.document) as Playbook | null;
	const document = runs ?? props.document;

	useEffect(() => {
		// The list of calls comes after the socket has caught up; until then the log alone tells of them.
		if (live.getState().sessionId === null && sessionId) void live.getState().attach(sessionId);
	}, [live, sessionId]);

	const keyDown = (event: KeyboardEvent) => {
		if (event.key !== "d" || hasModifier(event) || isTypingPlace(event.target) || chosen === null) return;
		setTab("changes");
		event.preventDefault();
	};

	return (
		<section
			ref={panel}
			className={styles.panel}
			aria-label="Inspector panel"
			tabIndex={-1}
			onKeyDown={keyDown}
		>
			<Tabs
				className={styles.tabs}
				value={tab}
				onChange={(value) => setTab((value ?? "window") as Tab)}
				keepMounted={false}
				variant="none"
			>
				<CallHeader {...props} document={document} numbers={numbers} chosen={chosen} call={call}>
					<Tabs.List aria-label="Inspector" className={styles.tabList}>
						<Tabs.Tab value="window">Window</Tabs.Tab>
						<Tabs.Tab value="changes">Changes</Tabs.Tab>
						<Tabs.Tab value="state">State</Tabs.Tab>
						<Tabs.Tab value="rules">Rules {rules > 0 ? rules : ""}</Tabs.Tab>
						<Tabs.Tab value="cost">Cost</Tabs.Tab>
						<Tabs.Tab value="request">Request</Tabs.Tab>
					</Tabs.List>
				</CallHeader>
				{chosen === null ? (
					<Empty />
				) : (
					<Tabs.Panel value={tab} className={styles.body}>
						{call?.segments ? (
							<TabBody {...props} sessionId={sessionId} tab={tab} call={call} document={document} />
						) : (
							<p className={common.loading}>{problem ?? "Loading the call…"}</p>
						)}
					</Tabs.Panel>
				)}
			</Tabs>
		</section>
	);
}
