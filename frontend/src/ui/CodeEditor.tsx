import { json } from "@codemirror/lang-json";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { placeholder } from "@codemirror/view";
import { basicSetup, EditorView } from "codemirror";
import { useEffect, useRef } from "react";
import styles from "./code.module.css";
import type { JsonProblem } from "./json";

interface CodeEditorProps {
	/** Names the editor for screen readers. */
	label: string;
	text: string;
	problem: JsonProblem | null;
	onChange: (text: string) => void;
	onEnd?: (() => void) | undefined;
}

const THEME = EditorView.theme({
	"&": { fontSize: "12px", backgroundColor: "var(--ps-panel)", color: "var(--ps-text)" },
	"&.cm-focused": { outline: "2px solid var(--ps-accent)", outlineOffset: "-1px" },
	".cm-scroller": { fontFamily: "var(--ps-mono)", maxHeight: "320px" },
	".cm-gutters": { backgroundColor: "var(--ps-hover)", color: "var(--ps-text-quiet)", border: "none" },
	".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
	".cm-cursor": { borderLeftColor: "var(--ps-text)" },
	"&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
		background: "var(--ps-accent-soft) !important",
	},
	".cm-tooltip": {
		backgroundColor: "var(--ps-raised)",
		color: "var(--ps-text)",
		borderColor: "var(--ps-line)",
	},
});

function diagnosticsFor(problem: JsonProblem | null, length: number): Diagnostic[] {
	if (!problem) return [];
	const from = Math.min(problem.offset, length);
	return [{ from, to: Math.min(from + 1, length), severity: "error", message: problem.message }];
}

/** CodeMirror for JSON; a chunk of its own, loaded when the first such field is opened. */
export default function CodeEditor({ label, text, problem, onChange, onEnd }: CodeEditorProps) {
	const host = useRef<HTMLDivElement>(null);
	const view = useRef<EditorView | null>(null);
	const handlers = useRef({ onChange, onEnd });
	handlers.current = { onChange, onEnd };

	// biome-ignore lint/correctness/useExhaustiveDependencies: made once; later texts arrive in the effect below
	useEffect(() => {
		if (!host.current) return;
		const editor = new EditorView({
			parent: host.current,
			doc: text,
			extensions: [
				basicSetup,
				json(),
				THEME,
				EditorView.lineWrapping,
				placeholder("{ }"),
				EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
				EditorView.updateListener.of((update) => {
					if (update.docChanged) handlers.current.onChange(update.state.doc.toString());
					if (update.focusChanged && !update.view.hasFocus) handlers.current.onEnd?.();
				}),
			],
		});
		view.current = editor;
		return () => editor.destroy();
	}, [label]);

	useEffect(() => {
		const editor = view.current;
		if (!editor) return;
		const current = editor.state.doc.toString();
		if (current !== text) editor.dispatch({ changes: { from: 0, to: current.length, insert: text } });
		editor.dispatch(setDiagnostics(editor.state, diagnosticsFor(problem, editor.state.doc.length)));
	}, [text, problem]);

	return <div ref={host} className={styles.code} />;
}
