import { beforeEach, expect, it } from "vitest";
import { sample } from "../../playbook/sample.testdata";
import { openBackups } from "./backups";

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
});

const backup = (at: number) => ({ document: sample(), revision: 3, at });
const anotherTab = () => sessionStorage.setItem("ps.tab", crypto.randomUUID());

it("finds what this tab kept, also after a reload", () => {
	openBackups("p1").write(backup(Date.now()));
	expect(openBackups("p1").read()?.revision).toBe(3);
	expect(openBackups("p2").read()).toBeNull();
});

it("leaves alone what another tab is keeping, and takes over what a closed one left", () => {
	openBackups("p1").write(backup(Date.now()));
	anotherTab();
	expect(openBackups("p1").read()).toBeNull();
	openBackups("p1").clear();
	anotherTab();
	const left = openBackups("p1");
	left.write(backup(Date.now() - 60_000));
	anotherTab();
	expect(openBackups("p1").read()?.revision).toBe(3);
});

it("ignores an entry that is not a backup", () => {
	const backups = openBackups("p1");
	backups.write(backup(1));
	const key = Object.keys(localStorage)[0] ?? "";
	localStorage.setItem(key, "{broken");
	expect(backups.read()).toBeNull();
});
