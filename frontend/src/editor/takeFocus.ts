/**
 * Giving the focus to what is not there yet: React Flow hides a new stage until it has measured it, a panel that
 * opens is drawn in a moment, and neither takes a focus before. Tried frame by frame until it does.
 */
const FRAMES = 30;

/** Focuses what `find` finds as soon as that can be done; the answer gives up. */
export function takeFocus(find: () => HTMLElement | SVGElement | null, then?: () => void): () => void {
	let frame = 0;
	const attempt = (left: number) => {
		const wanted = find();
		wanted?.focus({ preventScroll: true });
		if (wanted && document.activeElement === wanted) then?.();
		else if (left > 0) frame = requestAnimationFrame(() => attempt(left - 1));
	};
	attempt(FRAMES);
	return () => cancelAnimationFrame(frame);
}

/** The same after what was just changed has been drawn. */
export function takeFocusLater(find: () => HTMLElement | SVGElement | null): () => void {
	let stop = () => {};
	const frame = requestAnimationFrame(() => {
		stop = takeFocus(find);
	});
	return () => {
		cancelAnimationFrame(frame);
		stop();
	};
}
