"""German: the panel "id Tech" and headings of dialogs."""

TEXTS = {
    "0: plays the legs' frame, 1: the torso's, between: both": (
        "0: spielt den Frame der Beine, 1: den des Torsos, dazwischen: beide"
    ),
    "1 rocket, 2 grenade, 4 gib, 8 turns, 16 green, 32 zombie, 64 orange, 128 purple: trails and the like": (
        "1 Rakete, 2 Granate, 4 Fleischfetzen, 8 dreht sich, 16 grün, 32 Zombie, 64 orange, 128 violett: Spuren "
        "und Ähnliches"
    ),
    "Add Tag...": "Tag hinzufügen...",
    "Armature": "Skelett",
    "As Blender has them: seams not yet split": "Wie Blender sie hat: Nähte noch ungeteilt",
    "As the file will have them": "Wie die Datei sie haben wird",
    "Bone Flags": "Knochen-Flags",
    "Bone flags of the file; 1: a tag, whose axes turn with the torso": (
        "Knochen-Flags der Datei; 1: ein Tag, dessen Achsen sich mit dem Torso drehen"
    ),
    "Bones": "Knochen",
    "Bounding Radius": "Begrenzungsradius",
    "By Skin": "Durch Skin",
    "ET: Legacy's priority of the animation": "Priorität der Animation in ET: Legacy",
    "Elite Force Animation (.mdr)": "Elite-Force-Animation (.mdr)",
    "Eye Position": "Augenposition",
    "Fewest Vertices": "Kleinste Anzahl",
    "Findings": "Befunde",
    "Flags": "Flags",
    "Format": "Format",
    "Frames per second in the game": "Frames pro Sekunde im Spiel",
    "Frames that Repeat": "Wiederholte Frames",
    "Give it a material, called as the shader": "Ein Material geben, benannt wie der Shader",
    "Hangs on:": "Hängt an:",
    "Header and Flags": "Header und Flags",
    "How far the model reaches; follows the vertices unless you say otherwise": (
        "Wie weit das Modell reicht; folgt den Vertices, wenn nichts anderes gesagt wird"
    ),
    "How large the file's joint is at rest along its axes, X the bone's length; Blender shows none of it": (
        "Wie groß das Gelenk der Datei in Ruhe entlang seiner Achsen ist, X die Länge des Knochens; Blender zeigt "
        "nichts davon"
    ),
    "How many frames at the end repeat; 0: the animation stops there": (
        "Wie viele Frames am Ende sich wiederholen; 0: die Animation bleibt dort stehen"
    ),
    "Inter-Quake Model Animation (.iqm)": "Inter-Quake-Model-Animation (.iqm)",
    "Joints": "Gelenke",
    "LOD Bias": "LOD-Versatz",
    "LOD Scale": "LOD-Skalierung",
    "Loop Frames": "Schleifen-Frames",
    "Materials": "Materialien",
    "Mean area of the triangles, by which WinQuake chooses how to draw; follows them likewise": (
        "Mittlere Fläche der Dreiecke, nach der WinQuake wählt, wie es zeichnet; folgt ihnen ebenso"
    ),
    "Mesh": "Mesh",
    "Meshes": "Meshes",
    "Milliseconds in which the animation before it fades": "Millisekunden, in denen die Animation davor ausklingt",
    "Models": "Modelle",
    "Move Speed": "Laufgeschwindigkeit",
    "No Material": "Kein Material",
    "No Skin": "Kein Skin",
    "No picture found": "Kein Bild gefunden",
    "Objects": "Objekte",
    "Of the largest surface": "Der größten Surface",
    "Offset of the share of vertices that the game draws": "Versatz des Anteils der Vertices, den das Spiel zeichnet",
    "Only in object or pose mode": "Nur im Objekt- oder Posenmodus",
    "Options": "Optionen",
    "Picture": "Bild",
    "Priority": "Priorität",
    "Rest Scale": "Ruheskalierung",
    "Reversed": "Rückwärts",
    "Scale Positions": "Wege skalieren",
    "Scale of the distance at which the game draws fewer vertices": (
        "Faktor der Entfernung, ab der das Spiel weniger Vertices zeichnet"
    ),
    "Seconds after which each frame, or picture, ends: the game plays them by itself, again and again": (
        "Sekunden, nach denen jeder Frame oder jedes Bild endet: das Spiel spielt sie von selbst, immer wieder"
    ),
    "Shader": "Shader",
    "Shows how the game mixes other actions; never exported": (
        "Zeigt, wie das Spiel andere Aktionen mischt; nie exportiert"
    ),
    "Skins": "Skins",
    "Surface": "Surface",
    "Surfaces": "Surfaces",
    "Sync Type": "Gleichlauf",
    "Tags": "Tags",
    "The bone of vertices without weights when the model was exported last; bounds go by it": (
        "Der Knochen von Vertices ohne Gewichte beim letzten Export des Modells; Begrenzungen richten sich danach"
    ),
    "The bone's scale in an animation scales its way from its parent, too (Quake II remaster)": (
        "Die Skalierung des Knochens in einer Animation skaliert auch seinen Weg vom Elternknochen (Quake II remaster)"
    ),
    "The fewest vertices that the game draws of this surface from afar": (
        "Die kleinste Anzahl Vertices, die das Spiel von dieser Surface von fern zeichnet"
    ),
    "The file names no shader: rename the material to give it one": (
        "Die Datei nennt keinen Shader: das Material umbenennen, um einen zu setzen"
    ),
    "The game will take it": "Das Spiel nimmt es an",
    "The least weight when the model was exported last; bounds of animations go by it": (
        "Das kleinste Gewicht beim letzten Export des Modells; Begrenzungen von Animationen richten sich danach"
    ),
    "Times of Frames": "Zeiten der Frames",
    "Torso Parent": "Torso-Drehpunkt",
    "Torso Weight": "Torso-Gewicht",
    "Transition": "Übergang",
    "Triangle Size": "Dreiecksgröße",
    "Triangles": "Dreiecke",
    "Units per second that the player runs; below 0: measured from the feet": (
        "Einheiten pro Sekunde, die der Player läuft; unter 0: an den Füßen gemessen"
    ),
    "Vertices": "Vertices",
    "Wears": "Trägt",
    "Weights of a vertex when the model was exported last, 0: all; bounds of animations go by it": (
        "Gewichte je Vertex beim letzten Export des Modells, 0: alle; Begrenzungen von Animationen richten sich danach"
    ),
    "Where the model's eyes are; games read it and make nothing of it": (
        "Wo die Augen des Modells sind; Spiele lesen es und machen nichts daraus"
    ),
    "Wolfenstein Animation (.mds)": "Wolfenstein-Animation (.mds)",
    "Write Skin...": "Skin schreiben...",
    "Write over the file that the model came from?": "Die Datei überschreiben, aus der das Modell stammt?",
}
