import { getMe } from "../../api/playbooks";
import { PropertiesPanel } from "../../editor/properties/PropertiesPanel";
import { useAnswer } from "../useAnswer";

const NO_MODELS: readonly { id: string; provider: string }[] = [];

/** The properties, with the models that the server offers. */
export function PropertiesColumn() {
	const { data } = useAnswer(getMe);
	return <PropertiesPanel models={data?.models ?? NO_MODELS} />;
}
