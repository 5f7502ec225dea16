import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import { endTitle, placed } from "../playbook/labels";
import type { Playbook } from "../playbook/types";
import { grouped } from "../ui/format";
import common from "./common.module.css";
import view from "./Window.module.css";
import { KIND_NAMES, type Piece } from "./window";

interface SegmentListProps {
	pieces: readonly Piece[];
	document: Playbook;
	/** The called agent whose window it is; empty for the session's own playbook. */
	agent: string;
	selected: string | null;
	onSelected: (segment: string) => void;
	/** Enter: go into the text. */
	onOpened: () => void;
}

function labelOf({ segment }: Piece, document: Playbook, agent: string): string {
	if (segment.label) return segment.label;
	return segment.stage ? endTitle(document, placed(agent, segment.stage)) : "";
}

const STEPS: Record<string, (at: number, last: number) => number> = {
	ArrowDown: (at, last) => Math.min(last, at + 1),
	ArrowUp: (at) => Math.max(0, at - 1),
	ArrowRight: (at, last) => Math.min(last, at + 1),
	ArrowLeft: (at) => Math.max(0, at - 1),
	Home: () => 0,
	End: (_, last) => last,
	PageDown: (at, last) => Math.min(last, at + 10),
	PageUp: (at) => Math.max(0, at - 10),
};

/** The window as a list: the same as the bar, for the keyboard and for screen readers. */
export function SegmentList({ pieces, document, agent, selected, onSelected, onOpened }: SegmentListProps) {
	const id = useId();
	const list = useRef<HTMLDivElement>(null);
	const at = pieces.findIndex((piece) => piece.segment.id === selected);

	useEffect(() => {
		const row = list.current?.children[at];
		row?.scrollIntoView?.({ block: "nearest" });
	}, [at]);

	const keyDown = (event: KeyboardEvent) => {
		const step = STEPS[event.key];
		const next = step && pieces[step(at, pieces.length - 1)];
		if (next) onSelected(next.segment.id);
		else if (event.key === "Enter") onOpened();
		else return;
		event.preventDefault();
	};

	return (
		<div
			ref={list}
			className={view.list}
			role="listbox"
			aria-label="Segments"
			tabIndex={0}
			aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
			onKeyDown={keyDown}
		>
			{pieces.map((piece, index) => (
				// biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys for its options
				// biome-ignore lint/a11y/useFocusableInteractive: focus stays on the list (aria-activedescendant)
				<div
					key={piece.segment.id}
					id={`${id}-${index}`}
					role="option"
					aria-selected={index === at}
					className={view.row}
					onClick={() => onSelected(piece.segment.id)}
				>
					<i className={`${common.swatch} ${common[piece.fate]}`} aria-hidden="true" />
					<span className={common.kind}>{KIND_NAMES[piece.segment.kind]}</span>
					<span className={common.label} title={labelOf(piece, document, agent)}>
						{labelOf(piece, document, agent)}
						{piece.segment.replaced && ` · stands for ${grouped(piece.segment.replaced.tokens)}`}
					</span>
					<span className={common.number}>{grouped(piece.segment.tokens)}</span>
					{piece.missed ? (
						<span className={common.bad} title={`predicted to be read from the cache, was ${piece.fate}`}>
							missed
						</span>
					) : (
						<span>{piece.fate}</span>
					)}
				</div>
			))}
		</div>
	);
}
