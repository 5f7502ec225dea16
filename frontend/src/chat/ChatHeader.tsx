import { Button } from "@mantine/core";
import { useStore } from "zustand";
import type { Resolved } from "../api/connections";
import type { CallFacts, LiveState } from "../api/liveState";
import type { LiveSessionStore } from "../api/session";
import styles from "./Chat.module.css";
import { modelName, REHEARSAL, usingName, versionWords } from "./names";
import { TryWith } from "./TryWith";

interface ChatHeaderProps {
	live: LiveSessionStore;
	/** Who would answer as the playbook says. */
	answering: Resolved | null;
	/** What this chat is tried with instead. */
	using: string | null;
	onUse: (model: string | null) => void;
	onNewChat: () => void;
}

function lastFacts(state: LiveState): CallFacts | undefined {
	return state.facts.get(Math.max(0, ...state.facts.keys()));
}

/** "claude-sonnet-5", "rehearsal (no model)"; empty while it is not known. */
function playbookWords(answering: Resolved | null): string {
	if (answering === null) return "";
	return answering.answers === "rehearsal" ? REHEARSAL : answering.model;
}

export function ChatHeader({ live, answering, using, onUse, onNewChat }: ChatHeaderProps) {
	const last = useStore(live, lastFacts);
	const version = useStore(live, (state) => versionWords(state.playbookVersion));
	const starting = useStore(live, (state) => state.starting);
	const says = playbookWords(answering);
	const asPlaybook = last ? modelName(last.provider, last.model) : says;
	return (
		<header className={styles.header}>
			<h2 className={styles.title}>Test chat</h2>
			<TryWith
				model={using ? usingName(using) : asPlaybook}
				playbookSays={says}
				using={using}
				onUse={onUse}
			/>
			{version && (
				<span className={styles.version} title={`This chat runs ${version}`}>
					{version}
				</span>
			)}
			<Button
				variant="default"
				size="compact-sm"
				fw={500}
				className={styles.newChat}
				loading={starting}
				onClick={onNewChat}
			>
				New chat
			</Button>
		</header>
	);
}
