import type { ReactNode } from "react";
import type { KnownCall } from "../api/frames";
import { compact, dollars, grouped, percent } from "../ui/format";
import common from "./common.module.css";
import { costWords, isRehearsal } from "./costs";
import view from "./Window.module.css";
import { legendWords, numbersOf, type Piece, totalInput, written } from "./window";

function Key({ mark, children }: { mark: string | undefined; children: ReactNode }) {
	return (
		<span className={view.key}>
			<i className={`${common.swatch} ${mark}`} aria-hidden="true" />
			{children}
		</span>
	);
}

/** "5.6 % of the 200k window · $0.0041 · without caching $0.0237" */
function sumWords(call: KnownCall): string {
	const numbers = numbersOf(call);
	const parts: string[] = [];
	if (numbers) {
		const input = totalInput(numbers);
		parts.push(
			call.windowLimit
				? `${percent(input, call.windowLimit)} of the ${compact(call.windowLimit)} window`
				: `${grouped(input)} tokens`,
		);
	}
	parts.push(costWords(call));
	if (call.costWithoutCaching !== null && !isRehearsal(call)) {
		parts.push(`without caching ${dollars(call.costWithoutCaching)}`);
	}
	return parts.join(" · ");
}

/** What the colours mean, with the real numbers and the predicted ones. */
export function Legend({ call, pieces }: { call: KnownCall; pieces: readonly Piece[] }) {
	const { usage, predicted } = call;
	const stands = pieces.reduce((sum, piece) => sum + (piece.segment.replaced?.tokens ?? 0), 0);
	const missed = pieces.some((piece) => piece.missed);
	return (
		<div className={view.legend}>
			<Key mark={common.read}>{legendWords("read", usage?.read ?? null, predicted?.read ?? null)}</Key>
			<Key mark={common.written}>
				{legendWords("written", usage && written(usage), predicted && written(predicted))}
			</Key>
			<Key mark={common.fresh}>{legendWords("fresh", usage?.fresh ?? null, predicted?.fresh ?? null)}</Key>
			{stands > 0 && <Key mark={view.hatchedKey}>stands for {grouped(stands)} tokens</Key>}
			{missed && <Key mark={view.missedKey}>predicted to be read, was not</Key>}
			{isRehearsal(call) && (
				<span
					className={common.tag}
					title="No model was asked: these numbers are what the cache model expects"
				>
					simulated
				</span>
			)}
			<span className={view.sum}>{sumWords(call)}</span>
		</div>
	);
}
