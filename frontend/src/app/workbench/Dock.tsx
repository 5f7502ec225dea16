import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from "react";
import { useStore } from "zustand";
import { type LayoutControl, MIN_DOCK } from "./layoutStore";
import styles from "./workbench.module.css";

const STEP = 24;

/** The inspector's place at the bottom; its upper edge is dragged, or moved with the arrow keys. */
export function Dock({ layout, children }: { layout: LayoutControl; children: ReactNode }) {
	const height = useStore(layout.store, (state) => state.dockHeight);
	const dock = useRef<HTMLDivElement>(null);
	const drag = (event: PointerEvent<HTMLDivElement>) => {
		if (event.buttons !== 1 || !dock.current) return;
		layout.resizeDock(dock.current.getBoundingClientRect().bottom - event.clientY);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const step = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
		if (!step) return;
		event.preventDefault();
		layout.resizeDock(height + step);
	};
	return (
		<section
			ref={dock}
			className={styles.dock}
			style={{ height }}
			aria-label="Inspector"
			data-panel="inspector"
		>
			{/* biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be dragged and has no value */}
			<div
				className={styles.grip}
				role="separator"
				aria-orientation="horizontal"
				aria-label="Height of the inspector"
				aria-valuenow={Math.round(height)}
				aria-valuemin={MIN_DOCK}
				tabIndex={0}
				onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
				onPointerMove={drag}
				onKeyDown={onKeyDown}
			/>
			{children}
		</section>
	);
}
