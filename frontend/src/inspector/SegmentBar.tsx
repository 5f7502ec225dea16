import { useLayoutEffect, useRef, useState } from "react";
import type { CachePoint } from "../api/frames";
import { grouped } from "../ui/format";
import { type Cell, layOut, placeLabels } from "./bar";
import common from "./common.module.css";
import view from "./Window.module.css";
import { KIND_NAMES, type Piece } from "./window";

interface SegmentBarProps {
	pieces: readonly Piece[];
	points: readonly CachePoint[];
	selected: string | null;
	onSelected: (segment: string) => void;
}

/** Width of a pin's label and of a cell that has room for words, in pixels. */
const PIN = 44;
const WORDS = 52;

/** The width of an element, also after it changed. */
function useWidth() {
	const ref = useRef<HTMLDivElement>(null);
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		setWidth(element.clientWidth);
		if (typeof ResizeObserver === "undefined") return;
		const observer = new ResizeObserver(() => setWidth(element.clientWidth));
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	return { ref, width };
}

function cellTitle({ segment, fate, missed }: Piece): string {
	const stands = segment.replaced ? `, stands for ${grouped(segment.replaced.tokens)} tokens` : "";
	const label = segment.label ? ` · ${segment.label}` : "";
	const late = missed ? " (predicted to be read)" : "";
	return `${KIND_NAMES[segment.kind]}${label}: ${grouped(segment.tokens)} tokens ${fate}${late}${stands}`;
}

function BarCell({
	piece,
	cell,
	selected,
	onSelected,
}: { piece: Piece; cell: Cell } & Omit<SegmentBarProps, "pieces" | "points">) {
	const { segment, share, missed } = piece;
	const marks = [view.cell];
	if (segment.id === selected) marks.push(view.cellSelected);
	return (
		<button
			type="button"
			tabIndex={-1}
			className={marks.join(" ")}
			style={{ left: cell.x, width: cell.width }}
			title={cellTitle(piece)}
			onClick={() => onSelected(segment.id)}
		>
			<span className={view.fill}>
				<i className={common.read} style={{ flexGrow: share.read }} />
				<i className={common.written} style={{ flexGrow: share.written }} />
				<i className={common.fresh} style={{ flexGrow: share.fresh }} />
			</span>
			{segment.replaced && <span className={view.hatched} />}
			{missed && <span className={view.missed} />}
			{cell.width >= WORDS && (
				<span className={view.cellWords}>
					{KIND_NAMES[segment.kind]}
					<br />
					{grouped(segment.tokens)}
				</span>
			)}
		</button>
	);
}

interface Pin {
	readonly point: CachePoint;
	readonly x: number;
}

function Pins({ pins, width }: { pins: readonly Pin[]; width: number }) {
	const lefts = placeLabels(
		pins.map((pin) => pin.x),
		PIN,
		width,
	);
	return pins.map(({ point, x }, index) => (
		<span key={point.number}>
			<span className={view.pinLine} style={{ left: Math.min(x, width - 2) }} />
			<span
				className={view.pin}
				style={{ left: lefts[index], width: PIN }}
				title={`Cache point ${point.number}, kept ${point.ttl}${point.reason ? `: ${point.reason}` : ""}`}
			>
				{point.number} · {point.ttl}
			</span>
		</span>
	));
}

/** The window to scale in tokens, for the eye and the pointer; the list below is the same for everybody else. */
export function SegmentBar({ pieces, points, selected, onSelected }: SegmentBarProps) {
	const { ref, width } = useWidth();
	const cells = layOut(
		pieces.map((piece) => piece.segment.tokens),
		width,
	);
	const pins = points.flatMap((point) => {
		const cell = cells[pieces.findIndex((piece) => piece.segment.id === point.segment)];
		return cell ? [{ point, x: cell.x + cell.width }] : [];
	});
	const end = cells.at(-1);
	const full = end ? Math.max(width, end.x + end.width) : width;
	return (
		<div ref={ref} className={view.barBox} aria-hidden="true">
			<div className={view.bar} style={{ width: full }}>
				{pieces.map((piece, index) => {
					const cell = cells[index];
					return cell ? (
						<BarCell
							key={piece.segment.id}
							piece={piece}
							cell={cell}
							selected={selected}
							onSelected={onSelected}
						/>
					) : null;
				})}
				<Pins pins={pins} width={full} />
			</div>
		</div>
	);
}
