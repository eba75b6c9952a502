"""German: operators on models, their frames, animations, tags and skins."""

TEXTS = {
    "3D Cursor": "3D-Cursor",
    "A slot's number, or the name of a picture that lies beside the model's file": (
        "Die Nummer eines Platzes, oder der Name eines Bildes, das neben der Datei des Modells liegt"
    ),
    "Active Bone": "Aktiver Knochen",
    "Active Object": "Aktives Objekt",
    "Add Animation": "Animation hinzufügen",
    "Add Number": "Zahl hinzufügen",
    "Add Tag": "Tag hinzufügen",
    "Add a tag to the active object's model: an empty, whose place and turn exports write": (
        "Dem Modell des aktiven Objekts einen Tag geben: ein Empty, dessen Ort und Drehung Exporte schreiben"
    ),
    "All": "Alle",
    "All Surfaces": "Alle Surfaces",
    "All of it": "Alles",
    "Animation": "Animation",
    "Apply Change to Frames": "Änderung auf Frames übertragen",
    "At the active object's origin, and moving with that": "Am Ursprung des aktiven Objekts, und mit ihm bewegt",
    "Before the one above": "Vor die darüber",
    "Behind the one below": "Hinter die darunter",
    "Bone": "Knochen",
    "Check for Game": "Für Spiel prüfen",
    "Choose the game that this model is made for: exports and checks of it begin with that": (
        "Das Spiel wählen, für das dieses Modell gemacht ist: Exporte und Prüfungen beginnen damit"
    ),
    "Constant": "Konstant",
    "Copy": "Kopie",
    "Copy Path": "Pfad kopieren",
    "Copy the path of the file that the model came from": "Den Pfad der Datei kopieren, aus der das Modell stammt",
    "Count": "Anzahl",
    "Delete Frame": "Frame löschen",
    "Delete the present frame from all surfaces and tags of the model": (
        "Den aktuellen Frame aus allen Surfaces und Tags des Modells löschen"
    ),
    "Direction": "Richtung",
    "Duplicate Animation": "Animation duplizieren",
    "Each model in the active collection, or all that lies in it": (
        "Jedes Modell der aktiven Sammlung, oder alles, was darin liegt"
    ),
    "Edit the Frame That Is Shown": "Den gezeigten Frame bearbeiten",
    "Error": "Fehler",
    "Export Again": "Erneut exportieren",
    "Falloff": "Abnahme",
    "Finding": "Befund",
    "First": "Erster",
    "First frame of the range, as the model counts": "Erster Frame des Bereichs, wie das Modell zählt",
    "From a frame of the model to another": "Von einem Frame des Modells bis zu einem anderen",
    "Give the active surface, armature or bone this number, which exports write into the file": (
        "Der aktiven Surface, dem Skelett oder Knochen diese Zahl geben, die Exporte in die Datei schreiben"
    ),
    "Hang this model on an empty: exports write it as that sees it, wherever it stands or is carried": (
        "Dieses Modell an ein Empty hängen: Exporte schreiben es, wie dieses es sieht, wo immer es steht oder "
        "getragen wird"
    ),
    "Hold Still in Other Frames": "In anderen Frames stillhalten",
    "How many the file will hold": "Wie viele die Datei enthalten wird",
    "How much of the change frames get, from the present one to the first and the last": (
        "Wie viel von der Änderung Frames erhalten, vom aktuellen bis zum ersten und letzten"
    ),
    "Import": "Importieren",
    "Import this model": "Dieses Modell importieren",
    "Insert Frame": "Frame einfügen",
    "Insert a copy of the present frame behind it, in all surfaces and tags of the model": (
        "Eine Kopie des aktuellen Frames dahinter einfügen, in allen Surfaces und Tags des Modells"
    ),
    "Its first frame, as the list counts": "Ihr erster Frame, wie die Liste zählt",
    "Its last frame, as the list counts": "Ihr letzter Frame, wie die Liste zählt",
    "Last": "Letzter",
    "Last frame of the range, as the model counts": "Letzter Frame des Bereichs, wie das Modell zählt",
    "Less and less with a soft beginning and end, none at the ends": (
        "Immer weniger mit weichem Anfang und Ende, nichts an den Enden"
    ),
    "Less and less, none at the ends": "Immer weniger, nichts an den Enden",
    "Let the 3D view show it, too": "Es auch in der 3D-Ansicht zeigen",
    "Let the active object's model play the animation, and the scene show it from first to last frame": (
        "Das Modell des aktiven Objekts die Animation spielen lassen, die Szene vom ersten zum letzten Frame"
    ),
    "Let the model wear one of its skins, or a picture of its folder that becomes a further one": (
        "Das Modell einen seiner Skins tragen lassen, oder ein Bild seines Ordners, das ein weiterer wird"
    ),
    "Let vertices stand in all other frames where they stand in the present one": (
        "Vertices in allen anderen Frames dort stehen lassen, wo sie im aktuellen stehen"
    ),
    "Linear": "Linear",
    "Make Levels of Detail": "Detailstufen erzeugen",
    "Make NAME_1 and NAME_2, the model with fewer triangles, which games draw from afar; anew each time": (
        "NAME_1 und NAME_2 erzeugen, das Modell mit weniger Dreiecken, das Spiele von fern zeigen; jedes Mal neu"
    ),
    "Make Root": "Wurzel erzeugen",
    "Make a copy of the animation behind it, with frames of its own": (
        "Eine Kopie der Animation dahinter anlegen, mit eigenen Frames"
    ),
    "Make an animation of frames that are there: of the model, or of the action that plays": (
        "Eine Animation aus vorhandenen Frames machen: des Modells, oder der laufenden Aktion"
    ),
    "Move Animation": "Animation verschieben",
    "Move the animation up or down in the order of the file, a model's frames with it": (
        "Die Animation in der Reihenfolge der Datei nach oben oder unten schieben, samt den Frames eines Modells"
    ),
    "Move vertices in other frames as far as they were moved in the present one": (
        "Vertices in anderen Frames so weit bewegen, wie sie im aktuellen bewegt wurden"
    ),
    "Name": "Name",
    "New Name": "Neuer Name",
    "Number": "Zahl",
    "Of": "Von",
    "On": "An",
    "On the armature's active bone, turned and moved with it": (
        "Am aktiven Knochen des Skeletts, mit ihm gedreht und bewegt"
    ),
    "Only vertices that are selected in edit mode": "Nur Vertices, die im Bearbeitungsmodus ausgewählt sind",
    "Path": "Pfad",
    "Place": "Ort",
    "Play This Animation": "Diese Animation abspielen",
    "Remove Animation": "Animation entfernen",
    "Remove the animation, and the frames of the model that no other animation shows": (
        "Die Animation entfernen, samt den Frames des Modells, die keine andere Animation zeigt"
    ),
    "Rename Animation": "Animation umbenennen",
    "Rename the animation, and the frames and the marker that are named after it": (
        "Die Animation umbenennen, samt den Frames und der Markierung, die nach ihr heißen"
    ),
    "Select Part": "Teil auswählen",
    "Select this alone, and make it active": "Nur dieses auswählen und aktiv machen",
    "Select what a game would refuse of this model or show otherwise than meant, and list it": (
        "Auswählen und auflisten, was ein Spiel an diesem Modell ablehnt oder anders zeigt als gemeint"
    ),
    "Selected Vertices": "Ausgewählte Vertices",
    "Show Skin": "Skin zeigen",
    "The active shape key follows the frame of the scene, and the scene a key that is chosen": (
        "Der aktive Formschlüssel folgt dem Frame der Szene, und die Szene einem gewählten Formschlüssel"
    ),
    "The animation": "Die Animation",
    "The animation, as the list or its action names it": "Die Animation, wie die Liste oder ihre Aktion sie nennt",
    "The animation, as the list or its action names it; empty: the one that plays": (
        "Die Animation, wie die Liste oder ihre Aktion sie nennt; leer: die gerade läuft"
    ),
    "The bone of it to make active; empty: none": "Der Knochen darin, der aktiv wird; leer: keiner",
    "The file that the model came from": "Die Datei, aus der das Modell stammt",
    "The file to write: PART_SKIN.skin beside the model, upper_red.skin for upper.md3": (
        "Die zu schreibende Datei: TEIL_SKIN.skin neben dem Modell, upper_red.skin für upper.md3"
    ),
    "The finding that was chosen": "Der gewählte Befund",
    "The format and the game": "Das Format und das Spiel",
    "The format and the game that it was checked for": "Das Format und das Spiel, für die geprüft wurde",
    "The frames that change, too": "Die Frames, die sich mit ändern",
    "The game refuses the model for it": "Das Spiel lehnt das Modell deswegen ab",
    "The game's key: quake3, doom3, ...": "Der Schlüssel des Spiels: quake3, doom3, ...",
    "The imported model that the active object belongs to, else the selection": (
        "Das importierte Modell, zu dem das aktive Objekt gehört, sonst die Auswahl"
    ),
    "The object to select": "Das Objekt, das ausgewählt wird",
    "The property's name: idtech_torso_weight, ...": "Der Name der Eigenschaft: idtech_torso_weight, ...",
    "Those of the animation that the present frame is part of": "Die der Animation, zu der der aktuelle Frame gehört",
    "Those of the whole model": "Die des ganzen Modells",
    "Tick All Animations": "Alle Animationen ankreuzen",
    "Tick all animations in this dialog, or none": "Alle Animationen dieses Dialogs ankreuzen, oder keine",
    "Tick them": "Sie ankreuzen",
    "View": "Ansicht",
    "What Blender held when it was checked": "Was Blender enthielt, als geprüft wurde",
    "What files are to call it": "Wie Dateien sie nennen sollen",
    "What files call the animation; empty: one that they can hold": (
        "Wie Dateien die Animation nennen; leer: ein Name, den sie aufnehmen"
    ),
    "What games look for: tag_weapon, tag_head, ...": "Wonach Spiele suchen: tag_weapon, tag_head, ...",
    "What is wrong, and where": "Was nicht stimmt, und wo",
    "What the copy is called; empty: as the original, and _copy": (
        "Wie die Kopie heißt; leer: wie das Original, mit _copy"
    ),
    "What was moved of all surfaces of the model, not of the active one alone": (
        "Was an allen Surfaces des Modells bewegt wurde, nicht nur an der aktiven"
    ),
    "Where the 3D cursor is; of a rig it moves with the active bone": (
        "Wo der 3D-Cursor ist; bei einem Rig bewegt er sich mit dem aktiven Knochen"
    ),
    "Where the tag stands, and what it moves with": "Wo der Tag steht, und womit er sich bewegt",
    "Which model was checked": "Welches Modell geprüft wurde",
    "Which objects make the model": "Welche Objekte das Modell bilden",
    "Write": "Schreiben",
    (
        "Write the active object's model into the file that it came from, in its format, with the game and options "
        "of the last export; of a player all its files, of a rig also animations that came from files of their own"
    ): (
        "Das Modell des aktiven Objekts in die Datei schreiben, aus der es stammt, in ihrem Format, mit Spiel und "
        "Optionen des letzten Exports; von einem Player alle Dateien, von einem Rig auch Animationen, die aus "
        "eigenen Dateien kamen"
    ),
    "Write this animation": "Diese Animation schreiben",
    "Write what the surfaces of this model wear now as a skin file; one that is there keeps all else": (
        "Was die Surfaces dieses Modells jetzt tragen, als Skin-Datei schreiben; eine vorhandene behält alles andere"
    ),
}
