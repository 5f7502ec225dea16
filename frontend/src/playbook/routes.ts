/**
 * The course of every edge: which side it leaves and enters, where on that side, and where its label stands.
 * Edges that share a side are spread over it in the order of their other ends; parallel ones run apart; a label
 * takes the first place on its edge that covers neither a card nor another label. Pure geometry, in canvas pixels.
 */
import { type Box, TakenBoxes } from "./taken";
import type { Position } from "./types";

export type { Box } from "./taken";

export interface Wire {
	readonly id: string;
	readonly source: string;
	readonly target: string;
	/** Size of the label that stands on it. */
	readonly label: { readonly width: number; readonly height: number };
}
/** Its centre, and the width it is cut to where there is no room for all of it. */
export interface CourseLabel extends Position {
	readonly cutTo: number | null;
}
export interface Course {
	/** SVG path data. */
	readonly path: string;
	readonly start: Position;
	readonly end: Position;
	readonly label: CourseLabel;
}

type Side = "left" | "right" | "top" | "bottom";
interface Stop {
	readonly wire: string;
	readonly end: "source" | "target";
	readonly side: Side;
	/** Where the other end lies, to sort by. */
	readonly toward: number;
}
type Curve = readonly [Position, Position, Position, Position];

const OUTWARD: Record<Side, Position> = {
	left: { x: -1, y: 0 },
	right: { x: 1, y: 0 },
	top: { x: 0, y: -1 },
	bottom: { x: 0, y: 1 },
};
const LABEL_PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78];
/** Where a label does not fit on its line, it may touch it from above or below. */
const ASIDE = 15;

const centre = ({ x, y, width, height }: Box): Position => ({ x: x + width / 2, y: y + height / 2 });

/** The sides that face each other: left and right where there is room between the boxes, else top and bottom. */
export function facingSides(source: Box, target: Box): { out: Side; into: Side } {
	const gapX = Math.max(target.x - source.x - source.width, source.x - target.x - target.width);
	const gapY = Math.max(target.y - source.y - source.height, source.y - target.y - target.height);
	const across = gapX >= gapY || gapX > 40;
	if (across) return target.x > source.x ? { out: "right", into: "left" } : { out: "left", into: "right" };
	return target.y > source.y ? { out: "bottom", into: "top" } : { out: "top", into: "bottom" };
}

const isUpright = (side: Side) => side === "left" || side === "right";

function stopsOf(wires: readonly Wire[], boxes: ReadonlyMap<string, Box>): Map<string, Stop[]> {
	const stops = new Map<string, Stop[]>();
	const add = (node: string, stop: Stop) => {
		const key = `${node} ${stop.side}`;
		const there = stops.get(key);
		if (there) there.push(stop);
		else stops.set(key, [stop]);
	};
	for (const { id, source, target } of wires) {
		const from = boxes.get(source);
		const to = boxes.get(target);
		if (!from || !to || source === target) continue;
		const { out, into } = facingSides(from, to);
		const toward = (other: Box, side: Side) => (isUpright(side) ? centre(other).y : centre(other).x);
		add(source, { wire: id, end: "source", side: out, toward: toward(to, out) });
		add(target, { wire: id, end: "target", side: into, toward: toward(from, into) });
	}
	return stops;
}

function pointOn(box: Box, side: Side, share: number): Position {
	if (isUpright(side))
		return { x: side === "left" ? box.x : box.x + box.width, y: box.y + box.height * share };
	return { x: box.x + box.width * share, y: side === "top" ? box.y : box.y + box.height };
}

interface Ends {
	source?: { point: Position; side: Side };
	target?: { point: Position; side: Side };
}

function endsOf(wires: readonly Wire[], boxes: ReadonlyMap<string, Box>): Map<string, Ends> {
	const ends = new Map<string, Ends>(wires.map(({ id }) => [id, {}]));
	for (const [key, stops] of stopsOf(wires, boxes)) {
		const box = boxes.get(key.slice(0, key.lastIndexOf(" ")));
		if (!box) continue;
		const sorted = [...stops].sort((a, b) => a.toward - b.toward || a.wire.localeCompare(b.wire));
		sorted.forEach(({ wire, end, side }, index) => {
			const entry = ends.get(wire);
			if (entry) entry[end] = { point: pointOn(box, side, (index + 1) / (sorted.length + 1)), side };
		});
	}
	return ends;
}

function bend(start: { point: Position; side: Side }, end: { point: Position; side: Side }): Curve {
	const distance = Math.hypot(end.point.x - start.point.x, end.point.y - start.point.y);
	const reach = Math.min(160, Math.max(24, distance * 0.4));
	const pull = ({ point, side }: { point: Position; side: Side }): Position => ({
		x: point.x + OUTWARD[side].x * reach,
		y: point.y + OUTWARD[side].y * reach,
	});
	return [start.point, pull(start), pull(end), end.point];
}

/** A loop above the right half of the card; each further one is higher. */
function loop(box: Box, index: number): Curve {
	const height = (46 + index * 34) / 0.75;
	const start = { x: box.x + box.width * 0.58 - index * 8, y: box.y };
	const end = { x: box.x + box.width * 0.86 + index * 8, y: box.y };
	return [start, { x: start.x - 14, y: start.y - height }, { x: end.x + 14, y: end.y - height }, end];
}

export function pointAt([a, b, c, d]: Curve, t: number): Position {
	const u = 1 - t;
	const mix = (p: number, q: number, r: number, s: number) =>
		u * u * u * p + 3 * u * u * t * q + 3 * u * t * t * r + t * t * t * s;
	return { x: mix(a.x, b.x, c.x, d.x), y: mix(a.y, b.y, c.y, d.y) };
}

/** Shares of a label's width that still say something, where there is no room for all of it. */
const NARROWER = [0.75, 0.55];

function aroundPoint({ x, y }: Position, { width, height }: Wire["label"]): Box {
	return { x: x - width / 2, y: y - height / 2, width, height };
}

/** The place where a label covers least, and how much that is; the first that covers nothing is taken. */
function bestPlace(curve: Curve, size: Wire["label"], taken: TakenBoxes) {
	let best = { cost: Number.POSITIVE_INFINITY, at: pointAt(curve, 0.5) };
	const places = [0, -ASIDE, ASIDE].flatMap((aside) => LABEL_PLACES.map((t) => ({ t, aside })));
	for (const { t, aside } of places) {
		const on = pointAt(curve, t);
		const at = { x: on.x, y: on.y + aside };
		const cost = taken.covered(aroundPoint(at, size));
		if (cost < best.cost) best = { cost, at };
		if (cost === 0) break;
	}
	return best;
}

/** Whole where it fits, else cut to what fits, else whole where it covers least. */
function placeLabel(curve: Curve, size: Wire["label"], taken: TakenBoxes): CourseLabel {
	const whole = bestPlace(curve, size, taken);
	if (whole.cost > 0) {
		for (const share of NARROWER) {
			const width = Math.round(size.width * share);
			const { cost, at } = bestPlace(curve, { ...size, width }, taken);
			if (cost === 0) return { ...at, cutTo: width };
		}
	}
	return { ...whole.at, cutTo: null };
}

function pathOf([a, b, c, d]: Curve): string {
	const point = ({ x, y }: Position) => `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
	return `M${point(a)} C${point(b)} ${point(c)} ${point(d)}`;
}

function curvesOf(wires: readonly Wire[], boxes: ReadonlyMap<string, Box>): Map<string, Curve> {
	const ends = endsOf(wires, boxes);
	const loops = new Map<string, number>();
	const curves = new Map<string, Curve>();
	for (const { id, source, target } of wires) {
		const box = boxes.get(source);
		const { source: start, target: end } = ends.get(id) ?? {};
		if (source === target && box) {
			const index = loops.get(source) ?? 0;
			loops.set(source, index + 1);
			curves.set(id, loop(box, index));
		} else if (start && end) curves.set(id, bend(start, end));
	}
	return curves;
}

/** The course of each wire whose two boxes are known. */
export function routeWires(wires: readonly Wire[], boxes: ReadonlyMap<string, Box>): Map<string, Course> {
	const curves = curvesOf(wires, boxes);
	const taken = new TakenBoxes(boxes.values());
	const courses = new Map<string, Course>();
	for (const { id, label: size } of wires) {
		const curve = curves.get(id);
		if (!curve) continue;
		const label = placeLabel(curve, size, taken);
		taken.add(aroundPoint(label, { ...size, width: label.cutTo ?? size.width }));
		courses.set(id, { path: pathOf(curve), start: curve[0], end: curve[3], label });
	}
	return courses;
}
