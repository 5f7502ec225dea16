import { Badge, Button } from "@mantine/core";
import { useStore } from "zustand";
import type { CallFacts, LiveState } from "../api/liveState";
import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";
import styles from "./Chat.module.css";
import { modelName, REHEARSAL } from "./names";
import { useOnlyRehearsal } from "./useModels";

interface ChatHeaderProps {
	live: LiveSessionStore;
	document: Playbook;
	onNewChat: () => void;
}

function lastFacts(state: LiveState): CallFacts | undefined {
	return state.facts.get(Math.max(0, ...state.facts.keys()));
}

/** "draft@12" as a sentence. */
function versionWords(version: string): string {
	const revision = /^draft@(\d+)$/.exec(version)?.[1];
	if (revision) return `draft ${revision}`;
	return version ? `version ${version}` : "";
}

export function ChatHeader({ live, document, onNewChat }: ChatHeaderProps) {
	const last = useStore(live, lastFacts);
	const version = useStore(live, (state) => versionWords(state.playbookVersion));
	const starting = useStore(live, (state) => state.starting);
	const onlyRehearsal = useOnlyRehearsal();
	const wanted = onlyRehearsal ? REHEARSAL : document.defaultLLMConfig?.model;
	const model = last ? modelName(last.provider, last.model) : wanted;
	return (
		<header className={styles.header}>
			<h2 className={styles.title}>Test chat</h2>
			{model && (
				<Badge
					variant="default"
					size="sm"
					radius="sm"
					className={styles.model}
					title="The model that answers"
				>
					{model}
				</Badge>
			)}
			{version && (
				<span className={styles.quiet} title="What this chat runs">
					{version}
				</span>
			)}
			<Button variant="default" size="compact-sm" ml="auto" loading={starting} onClick={onNewChat}>
				New chat
			</Button>
		</header>
	);
}
