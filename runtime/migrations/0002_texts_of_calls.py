from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runtime", "0001_initial")]

    operations = [migrations.RenameField(model_name="llmcall", old_name="window", new_name="texts")]
