import { useEffect, useState } from "react";
import { useStore } from "zustand";
import type { LiveState } from "../api/liveState";
import type { LiveSessionStore } from "../api/session";
import { elapsed } from "../ui/format";
import styles from "./Chat.module.css";
import { activityWords } from "./names";

/** From when on it is said how long it takes, in milliseconds. */
const LONG_MS = 2_000;

/** Time since this was first shown, by the second, once it is long. */
function Clock() {
	const [since] = useState(() => Date.now());
	const [now, setNow] = useState(since);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1_000);
		return () => clearInterval(timer);
	}, []);
	return now - since < LONG_MS ? null : <span> · {elapsed(now - since)}</span>;
}

function words({ activity, timeline }: LiveState): string {
	if (!activity) return "";
	const names = timeline.flatMap((item) =>
		item.kind === "tool" && activity.tools.includes(item.callId) ? [item.name] : [],
	);
	return activityWords(activity, names);
}

/** What the running turn is doing, and for how long. */
export function ActivityLine({ live }: { live: LiveSessionStore }) {
	const text = useStore(live, words);
	const turn = useStore(live, (state) => state.activity?.turn);
	if (!text) return null;
	return (
		<div className={styles.activity} role="status">
			<span className={styles.pulse} aria-hidden="true" />
			{text}
			<Clock key={turn} />
		</div>
	);
}
