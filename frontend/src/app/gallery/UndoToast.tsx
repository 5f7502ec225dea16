import { Button, Group } from "@mantine/core";

export function UndoToast({ name, undo }: { name: string; undo: () => void }) {
	return (
		<Group justify="space-between" wrap="nowrap">
			<span>“{name}” deleted.</span>
			<Button size="compact-sm" variant="default" onClick={undo}>
				Undo
			</Button>
		</Group>
	);
}
