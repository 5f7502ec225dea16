import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import type { KnownCall } from "../api/frames";
import type { LiveSessionStore } from "../api/session";
import { grouped } from "../ui/format";
import common from "./common.module.css";
import styles from "./Inspector.module.css";
import { numbersOf, totalInput, written } from "./window";

interface CallStripProps {
	live: LiveSessionStore;
	numbers: readonly number[];
	chosen: number | null;
	onCallSelected: (call: number) => void;
}

function barWords(number: number, call: KnownCall | undefined): string {
	const numbers = call && numbersOf(call);
	if (!numbers) return `Call ${number}`;
	const parts = `${grouped(numbers.read)} read, ${grouped(written(numbers))} written, ${grouped(numbers.fresh)} fresh`;
	return `Call ${number}: ${grouped(totalInput(numbers))} tokens, ${parts}${call.usage ? "" : " (predicted)"}`;
}

/** The session as small bars, one a call: height is tokens, colours as in the window. */
export function CallStrip({ live, numbers, chosen, onCallSelected }: CallStripProps) {
	const calls = useStore(live, (state) => state.calls);
	const current = useRef<HTMLButtonElement>(null);
	const sizes = numbers.map((number) => {
		const call = calls.get(number);
		const known = call && numbersOf(call);
		return known ? totalInput(known) : 0;
	});
	const largest = Math.max(1, ...sizes);

	// biome-ignore lint/correctness/useExhaustiveDependencies: the button to show is another one with each call
	useEffect(() => {
		current.current?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
	}, [chosen]);

	if (numbers.length === 0) return null;
	return (
		<nav className={styles.strip} aria-label="Calls">
			{numbers.map((number, index) => {
				const call = calls.get(number);
				const parts = call && numbersOf(call);
				return (
					<button
						key={number}
						ref={number === chosen ? current : null}
						type="button"
						className={styles.stripBar}
						aria-label={barWords(number, call)}
						title={barWords(number, call)}
						aria-current={number === chosen ? "true" : undefined}
						onClick={() => onCallSelected(number)}
					>
						<span style={{ height: `${Math.max(10, ((sizes[index] ?? 0) / largest) * 100)}%` }}>
							<i className={common.fresh} style={{ flexGrow: parts ? parts.fresh : 1 }} />
							<i className={common.written} style={{ flexGrow: parts ? written(parts) : 0 }} />
							<i className={common.read} style={{ flexGrow: parts ? parts.read : 0 }} />
						</span>
					</button>
				);
			})}
		</nav>
	);
}
