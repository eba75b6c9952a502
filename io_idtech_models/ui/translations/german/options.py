"""German: options of imports and exports."""

TEXTS = {
    "0: groups of frames play in step on all monsters; 1: each begins when it likes": (
        "0: Gruppen von Frames laufen bei allen Monstern im Takt; 1: jede beginnt, wann sie will"
    ),
    "Actions that are named": "Aktionen, die genannt werden",
    "As Shown": "Wie gezeigt",
    "As it stands in the scene, with the motion of all that carries it": (
        "Wie es in der Szene steht, mit der Bewegung von allem, was es trägt"
    ),
    "As its root, or the tag that it hangs on, sees it: nothing that carries it counts": (
        "Wie seine Wurzel, oder der Tag, an dem es hängt, es sieht: nichts, was es trägt, zählt"
    ),
    "Automatic": "Automatisch",
    "Averaged over the faces at a position, as if no edge were sharp": (
        "Über die Flächen an einer Position gemittelt, als wäre keine Kante scharf"
    ),
    "Bounds of the deformed meshes in every frame, also where the file's would do": (
        "Begrenzungen der verformten Meshes in jedem Frame, auch wo die der Datei genügten"
    ),
    "Chosen Actions": "Gewählte Aktionen",
    "Collection": "Sammlung",
    "Cut surfaces with more vertices or triangles than the game takes into pieces: x, x2, x3": (
        "Surfaces mit mehr Vertices oder Dreiecken, als das Spiel nimmt, in Stücke schneiden: x, x2, x3"
    ),
    "Doom 3 Animation (.md5anim)": "Doom-3-Animation (.md5anim)",
    "Drop Tail": "Rest verwerfen",
    "End with the first frame once more, as games expect of loops": (
        "Mit dem ersten Frame noch einmal enden, wie Spiele es von Schleifen erwarten"
    ),
    "Enemy Territory Animation (.mdx)": "Enemy-Territory-Animation (.mdx)",
    "Everything in the scene": "Alles in der Szene",
    "Everything that is visible": "Alles, was sichtbar ist",
    "Export": "Exportieren",
    "File Path": "Dateipfad",
    "Frames per second in the file": "Frames pro Sekunde in der Datei",
    "Game": "Spiel",
    "How many of the model's triangles each level keeps": "Wie viele der Dreiecke des Modells jede Stufe behält",
    "In the Scene": "In der Szene",
    "Inter-Quake Model (.iqm) Animations": "Inter-Quake Model (.iqm), Animationen",
    "Least Weight": "Min. Gewicht",
    "Leave out what editors of models wrote behind the last frame": (
        "Weglassen, was Modelleditoren hinter den letzten Frame geschrieben haben"
    ),
    "Let several models stand beside one another, each on a root of its own; files do not change by it": (
        "Mehrere Modelle nebeneinander stellen, jedes an einer eigenen Wurzel; Dateien ändern sich dadurch nicht"
    ),
    "Let textures move in the scene that do in the game": "Texturen in der Szene bewegen, die sich im Spiel bewegen",
    "Let the scene play what is imported alone, not what is animated already": (
        "Die Szene nur das Importierte spielen lassen, nicht, was schon animiert ist"
    ),
    "Levels of Detail": "Detailstufen",
    "Make Levels": "Stufen erzeugen",
    "Make Now": "Jetzt erzeugen",
    "Make one vertex of those that have the same weights; export splits them again": (
        "Vertices mit gleichen Gewichten zu einem machen; der Export trennt sie wieder"
    ),
    "Make one vertex of those that lie together in every frame; export splits them again": (
        "Vertices, die in jedem Frame zusammenliegen, zu einem machen; der Export trennt sie wieder"
    ),
    "Make the steps of positions as small as the model allows, also where the source's grid still holds": (
        "Die Schritte der Positionen so klein machen, wie das Modell erlaubt, auch wo das Raster der Quelle noch passt"
    ),
    "Make the strips and fans that Quake II draws anew, also where the source's still hold": (
        "Die Streifen und Fächer, die Quake II zeichnet, neu erzeugen, auch wo die der Quelle noch passen"
    ),
    "Match new pixels of a player to the colours of shirt and trousers, too, which the game replaces": (
        "Neue Pixel eines Players auch den Farben von Hemd und Hose zuordnen, die das Spiel ersetzt"
    ),
    "Match new pixels to no colour that shines in the dark (224 to 255)": (
        "Neue Pixel keiner Farbe zuordnen, die im Dunkeln leuchtet (224 bis 255)"
    ),
    "Mix colours of the palette where new pixels have one that lies between them": (
        "Farben der Palette mischen, wo neue Pixel eine dazwischen haben"
    ),
    "Model": "Modell",
    "Model's Own": "Eigener",
    "New Skin": "Neuer Skin",
    "Most Triangles": "Max. Dreiecke",
    "Moving Textures": "Bewegte Texturen",
    "No Game: the Format's Own Limits": "Kein Spiel: die Grenzen des Formats",
    "None": "Keine",
    "Normals": "Normalen",
    "Nothing: files that are there stay as they are": "Nichts: vorhandene Dateien bleiben, wie sie sind",
    "Number Suffixes": "Nummern behalten",
    "One curve per frame instead of one for all: slower, but keys can be mixed": (
        "Eine Kurve je Frame statt einer für alle: langsamer, aber Schlüssel lassen sich mischen"
    ),
    "One picture for each material, without layers: what glTF, FBX and OBJ can hold": (
        "Ein Bild je Material, ohne Ebenen: was glTF, FBX und OBJ fassen"
    ),
    "Options of the last export, with which the next one begins": (
        "Optionen des letzten Exports, mit denen der nächste beginnt"
    ),
    "Order the vertices of changed surfaces so that games may draw fewer from afar; else all are drawn": (
        "Die Vertices geänderter Surfaces so ordnen, dass Spiele von fern weniger zeichnen können; sonst werden "
        "alle gezeichnet"
    ),
    "Percentages": "Prozente",
    "Plain Materials": "Schlichte Materialien",
    "Player Colors": "Playerfarben",
    "Recompute Bounds": "Grenzen neu",
    "Refit Grid": "Raster anpassen",
    "Relative Keys": "Relative Schlüssel",
    "Remake Commands": "Befehle neu",
    "Repeat First Frame": "Ersten wiederholen",
    "Replace Range": "Bereich ersetzen",
    "Round positions alike in all frames: what stands still does not wobble, but all is a little coarser": (
        "Positionen in allen Frames gleich runden: was stillsteht, wackelt nicht, aber alles ist etwas gröber"
    ),
    "Same Box": "Gleiche Box",
    "Scale": "Skalierung",
    "Scene": "Szene",
    "Selected objects": "Ausgewählte Objekte",
    "Selection": "Auswahl",
    "Side by Side": "Nebeneinander",
    "Size of a game unit in the scene": "Größe einer Spieleinheit in der Szene",
    "Skin": "Skin",
    "Skin Height": "Skin-Höhe",
    "Skin Width": "Skin-Breite",
    "Smaller weights of new or changed vertices are left out": (
        "Kleinere Gewichte neuer oder geänderter Vertices werden weggelassen"
    ),
    "Smooth": "Glatt",
    "Source": "Quelle",
    "Space": "Raum",
    "Split Surfaces": "Surfaces teilen",
    "Texels; 0: as the model has them, else 256": "Texel; 0: wie das Modell sie hat, sonst 256",
    "The active object's imported model, else what is selected, and hangs on it": (
        "Das importierte Modell des aktiven Objekts, sonst was ausgewählt ist und daran hängt"
    ),
    "The collection of the active object's model, else the active collection": (
        "Die Sammlung des Modells, zu dem das aktive Objekt gehört, sonst die aktive Sammlung"
    ),
    "The file to read": "Die zu lesende Datei",
    "The file to write": "Die zu schreibende Datei",
    "The file's where nothing changed, turned along where vertices moved, else as shown": (
        "Die der Datei, wo sich nichts geändert hat, mitgedreht, wo Vertices bewegt wurden, sonst wie gezeigt"
    ),
    "The game plays the frames backwards": "Das Spiel spielt die Frames rückwärts",
    "The keys of a model that has them, the scene's range if something moves, else one": (
        "Die Schlüssel eines Modells, das welche hat, der Bereich der Szene, wenn sich etwas bewegt, sonst einer"
    ),
    "The model as it is written, with fewer triangles": "Das Modell, wie es geschrieben wird, mit weniger Dreiecken",
    "The model's own, if it was imported or has a root; else the world's": (
        "Der eigene, wenn das Modell importiert wurde oder eine Wurzel hat; sonst der der Welt"
    ),
    "The player's aim turns the torso about this bone": "Das Zielen des Players dreht den Torso um diesen Knochen",
    "The skin to wear (default, red, ...); empty: the usual one; none: the shaders in the model's file": (
        "Der Skin (default, red, ...); leer: der übliche; none: die Shader in der Datei des Modells"
    ),
    "Those of the imported file where nothing about them changed, else as shown": (
        "Die der importierten Datei, wo sich an ihnen nichts geändert hat, sonst wie gezeigt"
    ),
    "Those that 'Make Levels of Detail' made of the model, as they are now": (
        "Die, die 'Detailstufen erzeugen' aus dem Modell gemacht hat, wie sie jetzt sind"
    ),
    "Those that Blender shows": "Die, die Blender zeigt",
    "Visible": "Sichtbar",
    "Weld Seams": "Nähte verschweißen",
    "What Blender shows in every frame": "Was Blender in jedem Frame zeigt",
    "What to write as NAME_1, NAME_2 beside the model, which games draw from afar": (
        "Was als NAME_1, NAME_2 neben das Modell geschrieben wird, die Spiele von fern zeigen"
    ),
    "Where normals come from": "Woher die Normalen kommen",
    "Which animations to write; several go into the folder, each under its name": (
        "Welche Animationen geschrieben werden; mehrere kommen in den Ordner, jede unter ihrem Namen"
    ),
    "Which normals to write": "Welche Normalen geschrieben werden",
    "Which objects to write": "Welche Objekte geschrieben werden",
    "Whose limits to keep: what the game would refuse is not written": (
        "Wessen Grenzen eingehalten werden: was das Spiel ablehnt, wird nicht geschrieben"
    ),
    "Whose origin and axes the file has, where the model hangs on another's tag, or on a root": (
        "Wessen Ursprung und Achsen die Datei hat, wo das Modell am Tag eines anderen oder an einer Wurzel hängt"
    ),
    "Wolfenstein Tags (.tag)": "Wolfenstein-Tags (.tag)",
    "World": "Welt",
    "Write .tag": ".tag schreiben",
    "Write NAME_SKIN.skin beside the model, too: what its surfaces wear, SKIN called so; empty: none": (
        "Auch NAME_SKIN.skin neben das Modell schreiben: was seine Surfaces tragen, SKIN so benannt; leer: keine"
    ),
    "Write Skin": "Skin schreiben",
    "Write names as they are, with the numbers (.001) that Blender puts behind them": (
        "Namen schreiben, wie sie sind, mit den Nummern (.001), die Blender anhängt"
    ),
    "Write the tags beside the model, too, as Enemy Territory's server reads them of vehicles": (
        "Auch die Tags neben das Modell schreiben, wie der Server von Enemy Territory sie für Fahrzeuge liest"
    ),
}
