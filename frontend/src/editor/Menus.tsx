import { Menu } from "@mantine/core";
import { type ReactElement, useEffect } from "react";
import * as commands from "../playbook/commands";
import { STAGE_HEIGHT } from "../playbook/layout";
import type { Transition } from "../playbook/types";
import { actionById, runAction } from "./actions";
import { type Editor, type OpenMenu, useEditor, useUi } from "./editor";
import { keyName } from "./keys";
import { addStage, documentOf } from "./operations";

function Item({ action, label }: { action: string; label?: string }) {
	const editor = useEditor();
	const { keys, when, label: usual } = actionById(action);
	const key = keys[0];
	return (
		<Menu.Item
			disabled={!(when?.(editor) ?? true)}
			rightSection={key && <kbd>{keyName(key)}</kbd>}
			onClick={() => runAction(editor, action)}
		>
			{label ?? usual}
		</Menu.Item>
	);
}

function StageItems({ id }: { id: string }) {
	const editor = useEditor();
	const single = editor.ui.getState().selection.stageIds.length === 1;
	const initial = documentOf(editor).initialStage === id;
	return (
		<>
			<Item action="open" label="Open" />
			{single && <Item action="rename" />}
			{single && !initial && <Item action="initial" />}
			<Menu.Divider />
			{single && <Item action="add-next" />}
			{single && <Item action="connect" />}
			<Item action="copy" />
			<Item action="duplicate" />
			<Menu.Divider />
			<Item action="delete" />
		</>
	);
}

function change(
	editor: Editor,
	words: string,
	id: string,
	command: (
		id: string,
	) => (playbook: Parameters<typeof commands.reverse>[0]) => ReturnType<typeof commands.reverse>,
) {
	return () => editor.history.edit(words, command(id));
}

function TransitionItems({ transition }: { transition: Transition }) {
	const editor = useEditor();
	const { id } = transition;
	const priority = (by: number) =>
		change(
			editor,
			"Change priority",
			id,
			(rule) => (playbook) => commands.changePriority(playbook, rule, by),
		);
	return (
		<>
			<Item action="open" label="Edit" />
			<Item action="disable" label={transition.disabled ? "Enable" : "Disable"} />
			<Menu.Item
				disabled={!commands.canReverse(transition)}
				onClick={change(
					editor,
					"Reverse transition",
					id,
					(rule) => (playbook) => commands.reverse(playbook, rule),
				)}
			>
				Reverse
			</Menu.Item>
			<Menu.Divider />
			<Menu.Item rightSection={transition.priority ?? 0} onClick={priority(1)}>
				Priority up
			</Menu.Item>
			<Menu.Item onClick={priority(-1)}>Priority down</Menu.Item>
			<Menu.Divider />
			<Item action="delete" />
		</>
	);
}

function CanvasItems({ menu }: { menu: OpenMenu }) {
	const editor = useEditor();
	const add = () => addStage(editor, positionFor(editor, menu));
	return (
		<>
			<Menu.Item rightSection={<kbd>{keyName("A")}</kbd>} onClick={add}>
				Add stage here
			</Menu.Item>
			<Item action="paste" />
			<Menu.Divider />
			<Item action="select-all" />
			<Item action="tidy" />
			<Item action="fit" />
		</>
	);
}

function positionFor(editor: Editor, { screen }: OpenMenu) {
	const at = editor.view?.toCanvas(screen);
	return at ? { position: { x: at.x, y: at.y - STAGE_HEIGHT / 2 } } : {};
}

function NewStageItems({ menu }: { menu: OpenMenu }) {
	const editor = useEditor();
	const from = menu.id ?? "";
	const add = (kind: "chat" | "end" | "raw") => () =>
		addStage(editor, { ...positionFor(editor, menu), kind, connectFrom: from });
	return (
		<>
			<Menu.Label>Lead to</Menu.Label>
			<Menu.Item onClick={add("chat")}>New stage</Menu.Item>
			<Menu.Item onClick={add("end")}>New end stage</Menu.Item>
			<Menu.Item onClick={add("raw")}>New raw stage</Menu.Item>
			<Menu.Divider />
			<Menu.Item onClick={() => editor.ui.setState({ dialog: { kind: "connect", from } })}>
				A stage that is there…
			</Menu.Item>
		</>
	);
}

function itemsFor(editor: Editor, menu: OpenMenu): ReactElement | null {
	const transition = documentOf(editor).transitions?.find(({ id }) => id === menu.id);
	switch (menu.kind) {
		case "stage":
			return <StageItems id={menu.id ?? ""} />;
		case "transition":
			return transition ? <TransitionItems transition={transition} /> : null;
		case "canvas":
			return <CanvasItems menu={menu} />;
		case "new-stage":
			return <NewStageItems menu={menu} />;
		default:
			return menu.kind satisfies never;
	}
}

/** The one context menu of the editor, at the place where it was asked for. */
export function Menus() {
	const editor = useEditor();
	const menu = useUi((ui) => ui.menu);
	const close = () => editor.ui.setState({ menu: null });
	useEffect(() => {
		const back = () => editor.ui.setState({ menu: null });
		window.addEventListener("resize", back);
		return () => window.removeEventListener("resize", back);
	}, [editor]);
	if (!menu) return null;
	return (
		<Menu
			key={`${menu.screen.x} ${menu.screen.y}`}
			opened
			onChange={(opened) => !opened && close()}
			position="bottom-start"
			offset={0}
			width={272}
			shadow="sm"
			trapFocus
			returnFocus
		>
			<Menu.Target>
				<span style={{ position: "fixed", left: menu.screen.x, top: menu.screen.y, width: 1, height: 1 }} />
			</Menu.Target>
			<Menu.Dropdown>{itemsFor(editor, menu)}</Menu.Dropdown>
		</Menu>
	);
}
