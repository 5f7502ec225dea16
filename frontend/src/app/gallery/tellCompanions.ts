import { notifications } from "@mantine/notifications";
import { createElement } from "react";
import type { CreatedPlaybook } from "../../api/playbooks";
import { CompanionsToast } from "./CompanionsToast";

/** Says which playbooks came with a new one because it calls them, and which of one's own it calls. */
export function tellCompanions({ name, companions }: CreatedPlaybook): void {
	if (companions.length === 0) return;
	const toast = "companions";
	const close = () => notifications.hide(toast);
	notifications.hide(toast);
	notifications.show({
		id: toast,
		autoClose: 10_000,
		message: createElement(CompanionsToast, { name, companions, close }),
	});
}
